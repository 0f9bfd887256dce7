# What every target of the project shares: language level, warnings, sanitizers, installation.

add_library(coldtrace_options INTERFACE)
# What is not public is included by its path from the top of the project.
target_include_directories(coldtrace_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_features(coldtrace_options INTERFACE cxx_std_20)
target_compile_options(coldtrace_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-align
  -Wnon-virtual-dtor -Woverloaded-virtual -Wformat=2
  # A braced list that names some members leaves the others at their defaults on purpose.
  -Wno-missing-field-initializers $<$<BOOL:${COLDTRACE_WERROR}>:-Werror>
  # Nobody replaces a function of position-independent code at run time, as GCC takes for possible.
  $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>
  # Garbage is collected from half a GiB on: a tenth of the time of large units, for 0.1 GiB more.
  $<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=524288>)
if(COLDTRACE_SANITIZE)
  target_compile_options(coldtrace_options INTERFACE
    -fsanitize=${COLDTRACE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:Clang>:-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitizer-ignorelist.txt>)
  target_link_options(coldtrace_options INTERFACE -fsanitize=${COLDTRACE_SANITIZE})
  if(COLDTRACE_SANITIZE STREQUAL "address,undefined")
    # A fifth of all code. AddressSanitizer finds what the first two find, and no pointer is cast
    # here that the others could find misaligned or of another class.
    target_compile_options(coldtrace_options INTERFACE
      -fno-sanitize=null,object-size,alignment,vptr)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # In coroutines Clang 14 cannot place what this check needs: "difference across sections".
    target_compile_options(coldtrace_options INTERFACE -fno-sanitize=function)
  endif()
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

# Tests run in less time than they compile: their own code needs little optimisation, and with
# sanitizers, where that costs most, none. Fuzz targets run for hours.
add_library(coldtrace_test_options INTERFACE)
target_link_libraries(coldtrace_test_options INTERFACE coldtrace_options)
if(COLDTRACE_LIBFUZZER)
  target_compile_options(coldtrace_test_options INTERFACE -O1)
elseif(COLDTRACE_SANITIZE)
  target_compile_options(coldtrace_test_options INTERFACE -O0)
else()
  target_compile_options(coldtrace_test_options INTERFACE $<$<CONFIG:Release>:-O1>)
endif()

# What most files include, compiled once. A build without (CMAKE_DISABLE_PRECOMPILE_HEADERS, as the
# preset "dev" has it) says whether each file includes what it uses.
set(coldtrace_common_headers
  <algorithm> <array> <bit> <charconv> <cstdint> <cstring> <fstream> <functional> <map>
  <memory> <optional> <random> <ranges> <set> <span> <string> <string_view> <tuple> <utility> <vector>
  <fmt/format.h> <tl/expected.hpp>
  <coldtrace/core/findings.hpp> <coldtrace/core/image_source.hpp> <coldtrace/core/reader.hpp>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 believes that a literal does not fit into a string (its bugs 105329 and 105651), and says
  # so where the string's header is precompiled.
  target_compile_options(coldtrace_options INTERFACE
    -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
  # With more in a unit it inlines more, and takes what an error has for what a success has.
  if(COLDTRACE_UNITY)
    target_compile_options(coldtrace_options INTERFACE -Wno-maybe-uninitialized)
  endif()
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # As its content, not its age: compiler caches ask for that.
  target_compile_options(coldtrace_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()

# The libraries built here, a library behind what it needs; for the package that other projects find.
set_property(GLOBAL PROPERTY coldtrace_components "")

# coldtrace_add_library(NAME ROOMS... [LINK...] [PRIVATE_LINK...] [COMPILE_WITH...] [PACKAGES...]
#                       [PKG_CONFIG...] [LIBS...])
# The folder's library, or a part of it that stands alone: target coldtrace_NAME, alias
# coldtrace::NAME. Its public headers lie in the folder's include/coldtrace/NAME and are included as
# <coldtrace/NAME/image.hpp>. PACKAGES are what find_package must find, here and for whoever uses the
# installed library; PKG_CONFIG and LIBS are the same for who asks pkg-config. COMPILE_WITH are targets
# of packages whose headers public headers include, and which nobody links: there is nothing in them, or
# what is used of it is in the library.
function(coldtrace_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ROOMS;LINK;PRIVATE_LINK;COMPILE_WITH;PACKAGES;PKG_CONFIG;LIBS")
  list(TRANSFORM arg_COMPILE_WITH REPLACE "::.*" "" OUTPUT_VARIABLE compiled_with)
  list(APPEND arg_PACKAGES ${compiled_with})
  foreach(package IN LISTS arg_PACKAGES)
    find_package(${package} REQUIRED GLOBAL)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY coldtrace_components ${name})
  set_property(GLOBAL PROPERTY coldtrace_packages_${name} ${arg_PACKAGES})
  set(needs ${arg_LINK} ${arg_PRIVATE_LINK})
  list(FILTER needs INCLUDE REGEX "^coldtrace::")
  list(TRANSFORM needs REPLACE "^coldtrace::" "")
  set_property(GLOBAL PROPERTY coldtrace_needs_${name} ${needs})
  string(REPLACE "-" "_" target coldtrace_${name})
  add_library(${target} STATIC)
  add_library(coldtrace::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR}/include)
  if(name STREQUAL "core")
    target_precompile_headers(${target} PRIVATE ${coldtrace_common_headers})
  else()
    target_precompile_headers(${target} REUSE_FROM coldtrace_core)
  endif()
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_LINK}
    PRIVATE $<BUILD_INTERFACE:coldtrace_options> ${arg_PRIVATE_LINK})
  foreach(package_target IN LISTS arg_COMPILE_WITH)
    target_include_directories(${target} SYSTEM PUBLIC
      $<TARGET_PROPERTY:${package_target},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
  install(TARGETS ${target} EXPORT coldtrace-${name}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libraries)
  coldtrace_install_pkg_config(${name} ${target} "${needs}" "${arg_PKG_CONFIG}" "${compiled_with}"
                               "${arg_LIBS}")
  foreach(room IN LISTS arg_ROOMS)
    add_subdirectory(${room})
  endforeach()
endfunction()

# pkg-config coldtrace-NAME, for builds without CMake. Found by its own place: the prefix may move.
function(coldtrace_install_pkg_config name target needs packages headers libraries)
  list(TRANSFORM needs PREPEND coldtrace-)
  list(APPEND needs ${packages})
  list(JOIN needs ", " requires)
  list(REMOVE_ITEM headers Boost)  # Debian has no .pc of it
  list(JOIN headers ", " compiled_with)
  list(JOIN libraries " " libs)
  set(destination ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  string(REGEX REPLACE "[^/]+" ".." up ${destination})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/coldtrace.pc.in
                 ${PROJECT_BINARY_DIR}/pkgconfig/coldtrace-${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/coldtrace-${name}.pc DESTINATION ${destination}
          COMPONENT libraries)
endfunction()

# coldtrace_add_room(NAME [SOURCES...] [HEADERS...]): what a room adds to the library NAME, or to
# cli. HEADERS are the public ones, in the folder's include/coldtrace/NAME, all of a room there or all
# in a folder named as the room; those that only the project includes lie beside their sources and are not named.
function(coldtrace_add_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS")
  string(REPLACE "-" "_" target coldtrace_${name})
  list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}
             OUTPUT_VARIABLE folder)
  string(REGEX REPLACE "/.*" "" folder ${folder})
  list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/${folder}/include/coldtrace/${name}/)
  target_sources(${target} PRIVATE ${arg_SOURCES})
  if(arg_HEADERS)
    target_sources(${target} PUBLIC FILE_SET HEADERS FILES ${arg_HEADERS})
  endif()
endfunction()

# coldtrace_unite_sources(FOLDER): the files of each target of the folder, and of those below it,
# compiled together where no name keeps them apart (unity_groups.py).
function(coldtrace_unite_sources folder)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  coldtrace_list_sources(lines ${folder})
  set(list ${PROJECT_BINARY_DIR}/unity_sources.txt)
  list(JOIN lines "\n" text)
  file(WRITE ${list} "${text}\n")
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/unity_groups.py 16
                  INPUT_FILE ${list} OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" groups "${groups}")
  foreach(line IN LISTS groups)
    string(REGEX MATCH "^([^ ]+) (.*) ([0-9]+)$" line "${line}")
    set_source_files_properties(${CMAKE_MATCH_2} TARGET_DIRECTORY ${CMAKE_MATCH_1}
                                PROPERTIES UNITY_GROUP ${CMAKE_MATCH_3})
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND
                 PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_MATCH_2})
    set_target_properties(${CMAKE_MATCH_1} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes the included files for headers.
    target_compile_options(coldtrace_options INTERFACE -Wno-subobject-linkage)
  endif()
endfunction()

# "TARGET FILE" for each C++ file of a target that has several.
function(coldtrace_list_sources variable folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  set(lines)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(sources ${target} SOURCES)
    if(type MATCHES "LIBRARY|EXECUTABLE" AND sources)
      list(FILTER sources INCLUDE REGEX "\\.cpp$")
      list(LENGTH sources count)
      if(count GREATER 1)
        foreach(source IN LISTS sources)
          cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
          if(EXISTS ${source})
            list(APPEND lines "${target} ${source}")
          endif()
        endforeach()
      endif()
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    coldtrace_list_sources(more ${below})
    list(APPEND lines ${more})
  endforeach()
  set(${variable} ${lines} PARENT_SCOPE)
endfunction()

# find_package(coldtrace COMPONENTS pe) gives coldtrace::pe and what it needs, and finds no packages
# but theirs; without components it gives all that is installed.
function(coldtrace_install_package)
  include(CMakePackageConfigHelpers)
  set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/coldtrace)
  get_property(components GLOBAL PROPERTY coldtrace_components)
  set(needs)
  foreach(name IN LISTS components)
    install(EXPORT coldtrace-${name} NAMESPACE coldtrace:: DESTINATION ${destination}
            COMPONENT libraries)
    foreach(property IN ITEMS needs packages)
      get_property(value GLOBAL PROPERTY coldtrace_${property}_${name})
      string(APPEND needs "set(coldtrace_${name}_${property} ${value})\n")
    endforeach()
  endforeach()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/coldtrace-config.cmake.in
                                ${PROJECT_BINARY_DIR}/coldtrace-config.cmake
                                INSTALL_DESTINATION ${destination})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/coldtrace-config-version.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/coldtrace-config.cmake
                ${PROJECT_BINARY_DIR}/coldtrace-config-version.cmake DESTINATION ${destination}
          COMPONENT libraries)
endfunction()
