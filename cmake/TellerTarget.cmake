# One place that sets standard, warnings and sanitizers for everything we build.
function(teller_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  # -Wno-restrict: g++ 12 warns falsely on "x" + std::string.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  if(TELLER_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(TELLER_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${TELLER_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${TELLER_SANITIZE})
    if(TELLER_SANITIZE MATCHES thread)
      # The thread sanitizer knows no fences, and g++ warns of it. Ours stand around memory that two processes share,
      # which it does not watch.
      target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
    endif()
  endif()
endfunction()

# teller_add_stage(FOLDER SOURCES … LINK …): the static library teller_FOLDER of src/FOLDER.
function(teller_add_stage folder)
  cmake_parse_arguments(STAGE "" "" "SOURCES;LINK" ${ARGN})
  add_library(teller_${folder} STATIC ${STAGE_SOURCES})
  teller_compile_options(teller_${folder})
  target_include_directories(teller_${folder} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(teller_${folder} PUBLIC ${STAGE_LINK})
endfunction()
