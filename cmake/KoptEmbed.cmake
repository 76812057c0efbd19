# kopt_embed(TARGET NAMESPACE OUT FILES...): turn data files into one header of string_views, keyed by path, so that
# the tools need nothing beside themselves. The files stay the only source.
function(kopt_embed target out)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "NAMESPACE;BASE" "FILES")
  set(header ${CMAKE_BINARY_DIR}/generated/${out})
  add_custom_command(OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -DOUT=${header} -DNAMESPACE=${arg_NAMESPACE} -DBASE=${arg_BASE}
      "-DFILES=${arg_FILES}" -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/KoptEmbedScript.cmake
    DEPENDS ${arg_FILES} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/KoptEmbedScript.cmake VERBATIM)
  # A target of its own, because the rule belongs to the caller's folder and not to the target's.
  string(MAKE_C_IDENTIFIER "embed_${out}" rule)
  add_custom_target(${rule} DEPENDS ${header})
  add_dependencies(${target} ${rule})
endfunction()
