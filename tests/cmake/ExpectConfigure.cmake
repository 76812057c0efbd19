# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=.. -DBINARY=.. -DARGS=.. -DFAILS=ON|OFF -DEXPECT=<text> -P ExpectConfigure.cmake
# Configures a project and looks for a text in what CMake says, whose messages are wrapped anywhere.
file(REMOVE_RECURSE "${BINARY}")
execute_process(COMMAND "${CMAKE_COMMAND}" -G Ninja -S "${SOURCE}" -B "${BINARY}" ${ARGS}
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
string(REGEX REPLACE "[ \t\r\n]+" " " flat "${said}")
if(FAILS AND status EQUAL 0)
  message(FATAL_ERROR "configured, but should have failed:\n${said}")
elseif(NOT FAILS AND NOT status EQUAL 0)
  message(FATAL_ERROR "did not configure:\n${said}")
endif()
string(FIND "${flat}" "${EXPECT}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "\"${EXPECT}\" is not in:\n${said}")
endif()
