#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands in for kopt: writes down where it was called and with which arguments.
{ pwd; printf '%s\n' "$@"; } >"$KOPT_FAKE_LOG"
