# With OYAT_PCH the rooms share two precompiled headers: what nearly all of them include anyway, with and without the loop. It saves
# more than half of a build without a warm compiler cache, so scripts/setup and scripts/test turn it on for a tree that is built
# for the first time; with a warm cache it only gets in the way.
option(OYAT_PCH "Precompile the headers that most files include" OFF)

function(oyat_make_precompiled name)
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.cpp "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

if(OYAT_PCH)
  # A precompiled header wants the same everywhere: the definitions, and -pthread, which RE2 brings to those who use it.
  add_compile_options(-pthread)
  add_compile_definitions(BOOST_ASIO_SEPARATE_COMPILATION BOOST_CONTAINER_DYN_LINK BOOST_CONTAINER_NO_LIB
                          BOOST_JSON_DYN_LINK BOOST_JSON_NO_LIB GTEST_HAS_PTHREAD=1)
  set(plain <algorithm> <array> <chrono> <cstdint> <expected> <filesystem> <functional> <map> <memory> <optional> <set>
            <span> <string> <string_view> <utility> <vector>
            ${CMAKE_SOURCE_DIR}/src/base/throwing.hpp ${CMAKE_SOURCE_DIR}/src/base/clock.hpp)
  oyat_make_precompiled(oyat_pch_plain ${plain})
  # Who includes the loop's headers must be linked with its room.
  oyat_make_precompiled(oyat_pch_loop ${plain} <boost/json/object.hpp> <boost/json/array.hpp>
                        ${CMAKE_SOURCE_DIR}/src/io/task.hpp ${CMAKE_SOURCE_DIR}/src/io/timer.hpp
                        ${CMAKE_SOURCE_DIR}/src/io/stream.hpp)
endif()

# For a target of ordinary code, with the rooms that it uses: not for the agent, which is built without exceptions.
function(oyat_precompile target)
  if(NOT OYAT_PCH)
    return()
  endif()
  if("io" IN_LIST ARGN OR target MATCHES "^(oyat_io|io_test)$")
    target_precompile_headers(${target} REUSE_FROM oyat_pch_loop)
  else()
    target_precompile_headers(${target} REUSE_FROM oyat_pch_plain)
  endif()
endfunction()
