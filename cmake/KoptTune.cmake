# SPDX-License-Identifier: Apache-2.0
# kopt_tune_kernels(): targets that tune, report and apply for the CUDA kernels of a target. See cmake/README.md.
# Works by find_package, FetchContent and add_subdirectory; adds nothing to ALL, changes no flags.
include_guard(GLOBAL)

option(KOPT_ENABLE "Add the kopt-tune-*, kopt-report-* and kopt-apply-* targets" ON)

# kopt_tune_kernels(<target>
#   [KERNELS <glob>...]           only kernels whose qualified name matches one of these; default: every annotated one
#   [TESTS <regex>]               ctest tests that the patched program must pass
#   [BENCHMARK <exe> [<arg>...]]  the program whose launches matter; a target's name or a path
#   [BUDGET <seconds>]            wall time of one run
#   [MIN_GAIN <ratio>]            smallest speedup worth a patch: 1.05 is 5 %
#   [DEVICE auto|cuda|emulated]   where candidates run
#   [ASSURANCE standard|strict]   what a win needs: standard lists what was not shown, strict takes only what was shown in full
#   [OUTPUT <dir>])               where run folders go; relative to the top of the source tree; default: kopt.out
function(kopt_tune_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TESTS;BUDGET;MIN_GAIN;DEVICE;ASSURANCE;OUTPUT" "KERNELS;BENCHMARK")
  _kopt_check_arguments()
  if(NOT KOPT_ENABLE)
    message(STATUS "kopt: KOPT_ENABLE is OFF, no tuning targets for ${target}")
    return()
  endif()

  # Every target's own compile commands, without touching the variable that the rest of the project may have set.
  set_property(TARGET ${target} PROPERTY EXPORT_COMPILE_COMMANDS ON)

  get_target_property(source_dir ${target} SOURCE_DIR)
  set(cuda_sources "$<FILTER:$<TARGET_PROPERTY:${target},SOURCES>,INCLUDE,\\.cu$>")
  set(cuda_sources "$<PATH:ABSOLUTE_PATH,NORMALIZE,${cuda_sources},${source_dir}>")
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _kopt_check_sources [[${target}]])")

  _kopt_write_manifest(manifest)
  _kopt_find_tool(kopt)
  _kopt_add_target(tune "Tuning the kernels of ${target}"
    tune "${cuda_sources}" -p "${CMAKE_BINARY_DIR}" --manifest "${manifest}")
  _kopt_add_target(report "Report of the last kopt run on ${target}"
    report --run-id latest --manifest "${manifest}")
  _kopt_add_target(apply "Applying the last kopt win on ${target}"
    apply --run-id latest --manifest "${manifest}")
  if(TARGET "${benchmark_target}")
    add_dependencies(kopt-tune-${target} ${benchmark_target})
  endif()

  if(NOT TARGET kopt-tune)
    add_custom_target(kopt-tune)
    set_property(TARGET kopt-tune PROPERTY FOLDER kopt)
  endif()
  add_dependencies(kopt-tune kopt-tune-${target})
endfunction()

# Runs in the scope of kopt_tune_kernels(). Each message says which argument and what would be right.
macro(_kopt_check_arguments)
  set(where "kopt_tune_kernels(${target} ...)")
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "kopt_tune_kernels: there is no target \"${target}\"; call it after "
      "add_executable() or add_library(), with the target's name as first argument")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    list(GET arg_UNPARSED_ARGUMENTS 0 unknown)
    message(FATAL_ERROR "${where}: unknown argument \"${unknown}\"; known are KERNELS, TESTS, BENCHMARK, "
      "BUDGET, MIN_GAIN, DEVICE, ASSURANCE and OUTPUT")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    list(GET arg_KEYWORDS_MISSING_VALUES 0 empty)
    message(FATAL_ERROR "${where}: ${empty} has no value")
  endif()
  if(DEFINED arg_BUDGET AND NOT arg_BUDGET MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "${where}: BUDGET is \"${arg_BUDGET}\"; give a whole number of seconds, such as BUDGET 600")
  endif()
  if(DEFINED arg_MIN_GAIN AND NOT arg_MIN_GAIN MATCHES "^[1-9][0-9]*(\\.[0-9]+)?$")
    message(FATAL_ERROR "${where}: MIN_GAIN is \"${arg_MIN_GAIN}\"; give a speedup, such as MIN_GAIN 1.05 for 5 %")
  endif()
  if(DEFINED arg_DEVICE AND NOT arg_DEVICE MATCHES "^(auto|cuda|emulated)$")
    message(FATAL_ERROR "${where}: DEVICE is \"${arg_DEVICE}\"; known are auto, cuda and emulated")
  endif()
  if(DEFINED arg_ASSURANCE AND NOT arg_ASSURANCE MATCHES "^(standard|strict)$")
    message(FATAL_ERROR "${where}: ASSURANCE is \"${arg_ASSURANCE}\"; known are standard and strict")
  endif()
  if(NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    message(FATAL_ERROR "${where}: the generator \"${CMAKE_GENERATOR}\" writes no compile_commands.json, from which "
      "kopt reads each file's flags; use Ninja or Makefiles")
  endif()
  if(TARGET "kopt-tune-${target}")
    message(FATAL_ERROR "${where}: called twice for this target; give all arguments in one call")
  endif()
endmacro()

# At the end of the directory: sources may be added after kopt_tune_kernels() was called.
function(_kopt_check_sources target)
  get_target_property(sources ${target} SOURCES)
  if(NOT "${sources}" MATCHES "\\.cu(;|$)|\\$<")
    message(FATAL_ERROR "kopt_tune_kernels(${target} ...): the target has no .cu file, so there is no kernel to tune")
  endif()
endfunction()

function(_kopt_json_string text out)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

function(_kopt_json_list out)
  set(items "")
  foreach(item IN LISTS ARGN)
    _kopt_json_string("${item}" item)
    list(APPEND items "${item}")
  endforeach()
  list(JOIN items ", " items)
  set(${out} "[${items}]" PARENT_SCOPE)
endfunction()

# Appends to the variable `fields` of the caller.
macro(_kopt_field name json)
  string(APPEND fields ",\n  \"${name}\": ${json}")
endmacro()

# What the command line of `kopt tune` does not say, as JSON written when the build system is generated.
macro(_kopt_write_manifest out)
  set(fields "")
  foreach(pair IN ITEMS "target=${target}" "source_dir=${CMAKE_SOURCE_DIR}" "build_dir=${CMAKE_BINARY_DIR}")
    string(REGEX MATCH "^([a-z_]+)=(.*)$" _ "${pair}")
    set(name "${CMAKE_MATCH_1}")
    _kopt_json_string("${CMAKE_MATCH_2}" value)
    _kopt_field(${name} "${value}")
  endforeach()
  _kopt_field(sources "[$<$<BOOL:${cuda_sources}>:\"$<JOIN:${cuda_sources},\"$<COMMA> \">\">]")
  _kopt_json_list(value ${arg_KERNELS})
  _kopt_field(kernels "${value}")
  set(benchmark_target "")
  if(DEFINED arg_BENCHMARK)
    set(command ${arg_BENCHMARK})
    list(GET command 0 program)
    if(TARGET "${program}")
      set(benchmark_target "${program}")
      list(REMOVE_AT command 0)
      list(PREPEND command "$<TARGET_FILE:${program}>")
    endif()
    _kopt_json_list(value ${command})
    _kopt_field(benchmark "${value}")
  endif()
  foreach(name IN ITEMS TESTS DEVICE ASSURANCE OUTPUT)
    if(DEFINED arg_${name})
      set(value "${arg_${name}}")
      if(name STREQUAL "OUTPUT")
        cmake_path(ABSOLUTE_PATH value BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" NORMALIZE)
      endif()
      _kopt_json_string("${value}" value)
      string(TOLOWER ${name} key)
      _kopt_field(${key} "${value}")
    endif()
  endforeach()
  if(DEFINED arg_BUDGET)
    _kopt_field(budget_seconds ${arg_BUDGET})
  endif()
  if(DEFINED arg_MIN_GAIN)
    _kopt_field(min_gain ${arg_MIN_GAIN})
  endif()
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  set(${out} "${CMAKE_CURRENT_BINARY_DIR}/kopt/$<${multi_config}:$<CONFIG>/>${target}.json")
  file(GENERATE OUTPUT "${${out}}" CONTENT "{\n  \"schema_version\": 1${fields}\n}\n" TARGET ${target})
endmacro()

# -DKOPT_EXECUTABLE, else the package that this file came with, else PATH. A project configures without any; its tuning
# targets then say what is missing.
function(_kopt_find_tool out)
  get_property(packaged GLOBAL PROPERTY KOPT_PACKAGE_EXECUTABLE)
  if(NOT KOPT_EXECUTABLE AND TARGET kopt)
    set(KOPT_EXECUTABLE "$<TARGET_FILE:kopt>")
  elseif(NOT KOPT_EXECUTABLE AND EXISTS "${packaged}")
    set(KOPT_EXECUTABLE "${packaged}")
  else()
    find_program(KOPT_EXECUTABLE kopt DOC "The kopt command")
  endif()
  if(KOPT_EXECUTABLE)
    set(${out} "${KOPT_EXECUTABLE}" PARENT_SCOPE)
  else()
    set(${out} "" PARENT_SCOPE)
  endif()
endfunction()

# _kopt_add_target(<verb> <comment> <kopt argument>...), in the scope of kopt_tune_kernels().
macro(_kopt_add_target verb comment)
  if(kopt)
    set(command "${kopt}" ${ARGN})
  else()
    set(command "${CMAKE_COMMAND}" -E echo
      "kopt is not installed: put it in PATH or configure with -DKOPT_EXECUTABLE=/path/to/kopt"
      COMMAND "${CMAKE_COMMAND}" -E false)
  endif()
  add_custom_target(kopt-${verb}-${target}
    COMMAND ${command}
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    COMMENT "${comment}"
    COMMAND_EXPAND_LISTS USES_TERMINAL VERBATIM)
  set_property(TARGET kopt-${verb}-${target} PROPERTY FOLDER kopt)
endmacro()
