# Everything kopt takes from the system; cmake/bootstrap.sh installs it on Debian 12.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(CURL REQUIRED)
find_package(tomlplusplus REQUIRED)
# The libraries that throw. A program with a C++ runtime of its own cannot catch what a shared library throws, so the
# package's have them compiled in.
add_library(kopt_throwing INTERFACE)
if(KOPT_STATIC)
  target_link_libraries(kopt_throwing INTERFACE fmt::fmt-header-only spdlog::spdlog_header_only)
  target_include_directories(kopt_throwing SYSTEM INTERFACE
    $<TARGET_PROPERTY:tomlplusplus::tomlplusplus,INTERFACE_INCLUDE_DIRECTORIES>)
else()
  target_link_libraries(kopt_throwing INTERFACE fmt::fmt spdlog::spdlog tomlplusplus::tomlplusplus)
endif()
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
# The static one: libkopt-capture.so goes into other people's programs and must need nothing there.
find_library(KOPT_ZSTD_LIBRARY NAMES libzstd.a REQUIRED)
# Static too: kopt-sandbox starts twice for each contained child.
find_path(SECCOMP_INCLUDE_DIR seccomp.h REQUIRED)
find_library(KOPT_SECCOMP_LIBRARY NAMES libseccomp.a REQUIRED)
if(KOPT_BUILD_FRONTEND)
  find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
  find_package(Clang REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/clang)
endif()

# Debian builds its static Clang libraries against the shared LLVM; linked first, that one would travel with every
# package (130 MB) and meet its static twin.
if(KOPT_BUILD_FRONTEND AND KOPT_STATIC)
  foreach(target IN LISTS CLANG_EXPORTED_TARGETS)
    if(NOT TARGET ${target})
      continue()
    endif()
    get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    if(libraries)
      list(REMOVE_ITEM libraries LLVM)
      set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES "${libraries}")
    endif()
  endforeach()
  llvm_map_components_to_libnames(KOPT_LLVM_LIBRARIES X86 NVPTX passes core support option targetparser
    frontenddriver frontendopenmp frontendhlsl frontendoffloading coverage lto irreader bitreader bitwriter linker windowsdriver
    instrumentation ipo coroutines objcarcopts profiledata)
endif()
