# What every target of the project shares: language level, warnings, sanitizers, installation.

add_library(coldtrace_options INTERFACE)
target_compile_features(coldtrace_options INTERFACE cxx_std_20)
target_compile_options(coldtrace_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-align
  -Wnon-virtual-dtor -Woverloaded-virtual -Wformat=2
  # A braced list that names some members leaves the others at their defaults on purpose.
  -Wno-missing-field-initializers $<$<BOOL:${COLDTRACE_WERROR}>:-Werror>)
if(COLDTRACE_SANITIZE)
  target_compile_options(coldtrace_options INTERFACE
    -fsanitize=${COLDTRACE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:Clang>:-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitizer-ignorelist.txt>)
  target_link_options(coldtrace_options INTERFACE -fsanitize=${COLDTRACE_SANITIZE})
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

# What the libraries built here need, for the package that other projects find.
set_property(GLOBAL PROPERTY coldtrace_packages "")

# coldtrace_add_library(NAME SOURCES... HEADERS... [LINK...] [PRIVATE_LINK...] [PACKAGES...])
# The folder's library: target coldtrace_NAME, alias coldtrace::NAME. Headers are included by
# their path from the top of the project: "pe/image.hpp". PACKAGES are what find_package must find,
# here and for whoever uses the installed library.
function(coldtrace_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;LINK;PRIVATE_LINK;PACKAGES")
  foreach(package IN LISTS arg_PACKAGES)
    find_package(${package} REQUIRED)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY coldtrace_packages ${arg_PACKAGES})
  string(REPLACE "-" "_" target coldtrace_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(coldtrace::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
                 FILES ${arg_HEADERS})
  target_include_directories(${target} PUBLIC
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/coldtrace>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_LINK}
    PRIVATE $<BUILD_INTERFACE:coldtrace_options> ${arg_PRIVATE_LINK})
  install(TARGETS ${target} EXPORT coldtrace
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/coldtrace)
endfunction()

# find_package(coldtrace) gives coldtrace::core, coldtrace::pe and so on.
function(coldtrace_install_package)
  include(CMakePackageConfigHelpers)
  set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/coldtrace)
  install(EXPORT coldtrace NAMESPACE coldtrace:: DESTINATION ${destination}
          FILE coldtrace-targets.cmake)
  get_property(packages GLOBAL PROPERTY coldtrace_packages)
  list(REMOVE_DUPLICATES packages)
  set(find_dependencies)
  foreach(package IN LISTS packages)
    string(APPEND find_dependencies "find_dependency(${package})\n")
  endforeach()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/coldtrace-config.cmake.in
                                ${PROJECT_BINARY_DIR}/coldtrace-config.cmake
                                INSTALL_DESTINATION ${destination})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/coldtrace-config-version.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/coldtrace-config.cmake
                ${PROJECT_BINARY_DIR}/coldtrace-config-version.cmake DESTINATION ${destination})
endfunction()
