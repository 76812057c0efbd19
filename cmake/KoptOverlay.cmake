# SPDX-License-Identifier: Apache-2.0
# The header mode's part of a user's build, for projects that have kopt and for those that check it in: kopt.cmake
# (KoptTune.cmake) and kopt-overlay.cpp, the program kopt-overlay in one file.
set(KOPT_HEADER_MODE_DIR ${CMAKE_BINARY_DIR}/headermode)
set(overlay_dir ${PROJECT_SOURCE_DIR}/driver/integrate/overlay)
set(overlay_text "// SPDX-License-Identifier: Apache-2.0
// kopt-overlay ${PROJECT_VERSION}, made of driver/integrate/overlay of kopt. C++17 and its standard library alone.
")
foreach(file Lock.h Splice.h Overlay.h Lock.cpp Splice.cpp Overlay.cpp main.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${overlay_dir}/${file})
  file(READ ${overlay_dir}/${file} text)
  string(REGEX REPLACE "\n#include \"[^\n]*" "" text "${text}")
  string(REPLACE "#pragma once\n" "" text "${text}")
  string(REPLACE "// SPDX-License-Identifier: Apache-2.0\n" "" text "${text}")
  string(APPEND overlay_text "\n${text}")
endforeach()
file(CONFIGURE OUTPUT ${KOPT_HEADER_MODE_DIR}/kopt-overlay.cpp CONTENT "${overlay_text}" @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/KoptTune.cmake ${KOPT_HEADER_MODE_DIR}/kopt.cmake COPYONLY)
configure_file(${PROJECT_SOURCE_DIR}/runtime/include/kopt/kopt.h ${KOPT_HEADER_MODE_DIR}/kopt.h COPYONLY)
