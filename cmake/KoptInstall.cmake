# SPDX-License-Identifier: Apache-2.0
# The relocatable package: every path in it is found from where bin/kopt lies. Component "development" is what a
# project needs to configure; "tools" is the rest.
include(CMakePackageConfigHelpers)

set(KOPT_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/kopt)
if(KOPT_STATIC)
  # Debian's multiarch folder would be wrong on any other host.
  set(CMAKE_INSTALL_LIBDIR lib)
  set(KOPT_PACKAGE_DIR lib/cmake/kopt)
endif()

# --- development: kopt.h, kopt_tune_kernels(), the package's description
install(TARGETS kopt_runtime EXPORT koptTargets COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/kopt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")
install(EXPORT koptTargets NAMESPACE kopt:: DESTINATION ${KOPT_PACKAGE_DIR} COMPONENT development)

set(KOPT_PROGRAM ${CMAKE_INSTALL_BINDIR}/kopt)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/koptConfig.cmake.in
  ${CMAKE_BINARY_DIR}/package/koptConfig.cmake INSTALL_DESTINATION ${KOPT_PACKAGE_DIR} PATH_VARS KOPT_PROGRAM)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/koptConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/koptConfig.cmake ${CMAKE_BINARY_DIR}/package/koptConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/KoptTune.cmake ${KOPT_HEADER_MODE_DIR}/kopt-overlay.cpp DESTINATION ${KOPT_PACKAGE_DIR} COMPONENT development)

# The build tree is a package too: -Dkopt_ROOT=<build>.
set(KOPT_PROGRAM bin/kopt)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/koptConfig.cmake.in ${CMAKE_BINARY_DIR}/koptConfig.cmake
  INSTALL_DESTINATION ${CMAKE_BINARY_DIR} INSTALL_PREFIX ${CMAKE_BINARY_DIR} PATH_VARS KOPT_PROGRAM)
configure_file(${CMAKE_BINARY_DIR}/package/koptConfigVersion.cmake ${CMAKE_BINARY_DIR}/koptConfigVersion.cmake
  COPYONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/KoptTune.cmake ${CMAKE_BINARY_DIR}/KoptTune.cmake COPYONLY)
configure_file(${KOPT_HEADER_MODE_DIR}/kopt-overlay.cpp ${CMAKE_BINARY_DIR}/kopt-overlay.cpp COPYONLY)
export(EXPORT koptTargets NAMESPACE kopt:: FILE ${CMAKE_BINARY_DIR}/koptTargets.cmake)

# --- tools: the programs and the data they read
set(tools kopt kopt-overlay kopt-runner kopt-sandbox)
if(TARGET kopt-extract)
  list(APPEND tools kopt-extract)
  install(CODE "file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    file(CREATE_LINK kopt-extract
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/kopt-frontend\" SYMBOLIC)" COMPONENT tools)
endif()
if(KOPT_STATIC)
  # What is not linked statically travels beside the programs; the C library is the host's.
  set(dynamic_tools ${tools})
  list(REMOVE_ITEM dynamic_tools kopt-sandbox) # is static: an installation would fail to change its run path
  set_target_properties(${dynamic_tools} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/kopt")
  install(TARGETS ${tools} RUNTIME_DEPENDENCY_SET kopt_libraries COMPONENT tools)
  install(RUNTIME_DEPENDENCY_SET kopt_libraries DESTINATION lib/kopt COMPONENT tools
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\\+\\+|cuda|cupti|nvrtc|nvidia-.*)\\.so")
  # Clang's own headers, without those of targets that kopt never compiles for.
  install(DIRECTORY ${LLVM_LIBRARY_DIR}/clang/${LLVM_VERSION_MAJOR}/include
    DESTINATION lib/kopt/clang/${LLVM_VERSION_MAJOR} COMPONENT tools
    PATTERN "arm*" EXCLUDE PATTERN "riscv*" EXCLUDE PATTERN "altivec.h" EXCLUDE PATTERN "hvx*" EXCLUDE
    PATTERN "hexagon*" EXCLUDE PATTERN "ppc_wrappers" EXCLUDE PATTERN "wasm*" EXCLUDE PATTERN "hlsl*" EXCLUDE
    PATTERN "opencl-c*" EXCLUDE PATTERN "module.modulemap" EXCLUDE)
else()
  install(TARGETS ${tools} COMPONENT tools)
endif()
if(TARGET kopt-capture)
  install(TARGETS kopt-capture LIBRARY DESTINATION lib/kopt COMPONENT tools)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/emulated/include DESTINATION lib/kopt/emulated COMPONENT tools)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/knowledge/gpus DESTINATION ${CMAKE_INSTALL_DATADIR}/kopt/knowledge
  COMPONENT tools)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/kopt COMPONENT tools
  PATTERN "build" EXCLUDE PATTERN "kopt.out" EXCLUDE PATTERN ".kopt" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/kopt COMPONENT tools)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME kopt)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_FILE_NAME kopt-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
# The .deb: the same files below /usr. What does not travel with them is the C and C++ libraries.
set(CPACK_PACKAGE_CONTACT "kopt <kopt@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "autotuner for CUDA kernels: finds faster ones and proves them in your program")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
if(KOPT_STATIC)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6, libstdc++6, libgcc-s1")
else()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS libclang-common-${LLVM_VERSION_MAJOR}-dev) # Clang's own headers
  find_program(KOPT_DPKG_SHLIBDEPS dpkg-shlibdeps) # of dpkg-dev
  if(KOPT_DPKG_SHLIBDEPS)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  endif()
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS bubblewrap)
include(CPack)
