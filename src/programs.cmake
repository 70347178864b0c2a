# The executables. Each appears when its main.cpp does.
function(oyat_program_if name room)
  if(EXISTS ${CMAKE_SOURCE_DIR}/src/${room}/main.cpp)
    oyat_program(${name} ${room} ${ARGN})
  endif()
endfunction()

oyat_program_if(oyat-keeper keeper oyat_keeper)
oyat_program_if(oyatd daemon oyat_daemon)
oyat_program_if(oyat cli oyat_cli)
if(EXISTS ${CMAKE_SOURCE_DIR}/src/agent/CMakeLists.txt)
  add_subdirectory(agent)
endif()
