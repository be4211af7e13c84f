# The comparison of flight recorder dumps: a library of its own, that diagnose needs without LibTorch.
add_library(teller_flight STATIC
  ${CMAKE_CURRENT_LIST_DIR}/flight_blame.cpp ${CMAKE_CURRENT_LIST_DIR}/flight_circles.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_clear.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_diagnosis.cpp ${CMAKE_CURRENT_LIST_DIR}/flight_groups.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_job.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_load.cpp ${CMAKE_CURRENT_LIST_DIR}/flight_mismatch.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_order.cpp ${CMAKE_CURRENT_LIST_DIR}/flight_outdated.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_reached.cpp ${CMAKE_CURRENT_LIST_DIR}/flight_status.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_text.cpp ${CMAKE_CURRENT_LIST_DIR}/flight_transfers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_waits.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_words.cpp)
teller_compile_options(teller_flight)
target_include_directories(teller_flight PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(teller_flight PUBLIC teller_run_folder nlohmann_json::nlohmann_json)
