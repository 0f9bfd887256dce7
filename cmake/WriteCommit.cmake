# cmake -DSOURCE=... -DOUTPUT=... -P WriteCommit.cmake: which commit is built, written only when it
# is another one than before.
set(commit "unknown")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define COLDTRACE_COMMIT \"${commit}\"\n" NEWLINE_STYLE UNIX)
