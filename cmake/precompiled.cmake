# With OYAT_PCH every room shares one precompiled header: what nearly all of them include anyway. It saves about a third of
# a build without a warm compiler cache, which is what CI has; with a warm one it only gets in the way.
option(OYAT_PCH "Precompile the headers that most files include" OFF)

if(OYAT_PCH)
  # A precompiled header wants the same definitions everywhere.
  add_compile_definitions(BOOST_ASIO_SEPARATE_COMPILATION BOOST_CONTAINER_DYN_LINK BOOST_CONTAINER_NO_LIB
                          BOOST_JSON_DYN_LINK BOOST_JSON_NO_LIB GTEST_HAS_PTHREAD=1)
  file(WRITE ${CMAKE_BINARY_DIR}/oyat_pch.cpp "")
  add_library(oyat_pch OBJECT ${CMAKE_BINARY_DIR}/oyat_pch.cpp)
  target_include_directories(oyat_pch PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_precompile_headers(oyat_pch PRIVATE
    <algorithm> <array> <chrono> <cstdint> <expected> <filesystem> <functional> <map> <memory> <optional> <set> <span>
    <string> <string_view> <utility> <vector> <boost/json/object.hpp> <boost/json/array.hpp>
    ${CMAKE_SOURCE_DIR}/src/base/throwing.hpp ${CMAKE_SOURCE_DIR}/src/base/clock.hpp
    ${CMAKE_SOURCE_DIR}/src/io/task.hpp ${CMAKE_SOURCE_DIR}/src/io/timer.hpp ${CMAKE_SOURCE_DIR}/src/io/stream.hpp)
endif()

# For a target of ordinary code: not the agent, which is built without exceptions.
function(oyat_precompile target)
  if(OYAT_PCH)
    target_precompile_headers(${target} REUSE_FROM oyat_pch)
  endif()
endfunction()
