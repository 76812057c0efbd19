// SPDX-License-Identifier: Apache-2.0
// Everything that device code has without including anything.
#pragma once

#include "qualifiers.h"
#include "system_headers.h"
#include "../vector_types.h"
#include "../math_constants.h"
#include "../vector_functions.h"
#include "hooks.h"
#include "synchronisation.h"
#include "math.h"
#include "integers.h"
#include "video.h"
#include "atomics.h"
#include "scoped_atomics.h"
#include "memory.h"
