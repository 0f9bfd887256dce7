# cmake -DSOURCE=... -DOUTPUT=... -P WriteCommit.cmake: which commit is built and of which day it is,
# written only when it is another one than before.
set(commit "unknown")
set(date "")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(commit ${described})
    execute_process(COMMAND ${CMAKE_COMMAND} -E env TZ=UTC
                            ${git} -C ${SOURCE} log -1 --date=format-local:%Y-%m-%d --format=%cd
                    OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
     "#define COLDTRACE_COMMIT \"${commit}\"\n#define COLDTRACE_COMMIT_DATE \"${date}\"\n" NEWLINE_STYLE UNIX)
