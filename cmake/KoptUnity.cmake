# SPDX-License-Identifier: Apache-2.0
# kopt_unity(<target>): the compiler reads the target's sources folder by folder, those of one folder together. What costs
# time in this project is not its own code but the templates of its libraries, which each file would instantiate anew: a
# full build takes about a third of the time. Files of one folder share their anonymous namespaces, so names in them are
# unique in the folder. Files with compile definitions of their own are left alone by CMake.
option(KOPT_UNITY "Compile the sources of a folder together" ON)

function(kopt_unity target)
  if(NOT KOPT_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(base ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${base} NORMALIZE)
    cmake_path(GET source PARENT_PATH folder)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
