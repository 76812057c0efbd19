# One interface target that every kopt target links: language level, warnings, sanitizers.
add_library(kopt_options INTERFACE)
target_compile_features(kopt_options INTERFACE cxx_std_20)
target_compile_options(kopt_options INTERFACE -Wall -Wextra -Wno-unused-parameter
  -Wno-missing-field-initializers # a record that is made of some of its members has the defaults of the others
  -Wno-deprecated-declarations) # libstdc++ 12 under Clang: stable_sort uses what it deprecates itself
if(KOPT_SANITIZE)
  target_compile_options(kopt_options INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(kopt_options INTERFACE -fsanitize=address,undefined)
endif()
if(KOPT_STATIC)
  # as-needed: Debian's static Clang names the shared LLVM as well.
  target_link_options(kopt_options INTERFACE -static-libstdc++ -static-libgcc -Wl,--as-needed
    -Wl,--disable-new-dtags) # DT_RPATH: libraries that travel with the package find each other by it too
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)
find_program(KOPT_LLD NAMES ld.lld-19 ld.lld)
if(KOPT_LLD AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_link_options(kopt_options INTERFACE -fuse-ld=lld)
endif()
