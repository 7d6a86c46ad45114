# Adds the program tokens to llama.cpp's build, with no change there: cmake -DCMAKE_PROJECT_llama.cpp_INCLUDE=.../tokens.cmake
set(QKGEN_TOKENS "${CMAKE_CURRENT_LIST_DIR}/tokens.cpp") # a deferred call reads variables when it is made
cmake_language(DEFER CALL add_executable tokens "${QKGEN_TOKENS}")
cmake_language(DEFER CALL target_link_libraries tokens PRIVATE llama)
