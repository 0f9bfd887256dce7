# Windows images for tests, built from source by the toolchains that can: clang with lld, and
# mingw-w64. Without them the images are left out, and the tests that need one report "skipped".

find_program(COLDTRACE_CLANG NAMES clang-14 clang)
find_program(COLDTRACE_LLD_LINK NAMES lld-link-14 lld-link)
find_program(COLDTRACE_LLVM_RC NAMES llvm-rc-14 llvm-rc)
find_program(COLDTRACE_LLVM_DLLTOOL NAMES llvm-dlltool-14 llvm-dlltool)
find_program(COLDTRACE_LLVM_OBJDUMP NAMES llvm-objdump-14 llvm-objdump)
find_program(COLDTRACE_LLVM_READOBJ NAMES llvm-readobj-14 llvm-readobj)
find_program(COLDTRACE_LLVM_MC NAMES llvm-mc-14 llvm-mc)
foreach(processor IN ITEMS i686 x86_64)
  find_program(COLDTRACE_MINGW_GCC_${processor} NAMES ${processor}-w64-mingw32-gcc)
  find_program(COLDTRACE_MINGW_WINDRES_${processor} NAMES ${processor}-w64-mingw32-windres)
  find_program(COLDTRACE_MINGW_DLLTOOL_${processor} NAMES ${processor}-w64-mingw32-dlltool)
endforeach()
mark_as_advanced(COLDTRACE_CLANG COLDTRACE_LLD_LINK COLDTRACE_LLVM_RC
  COLDTRACE_LLVM_DLLTOOL COLDTRACE_LLVM_OBJDUMP COLDTRACE_LLVM_READOBJ COLDTRACE_LLVM_MC
  COLDTRACE_MINGW_GCC_i686 COLDTRACE_MINGW_WINDRES_i686 COLDTRACE_MINGW_DLLTOOL_i686
  COLDTRACE_MINGW_GCC_x86_64 COLDTRACE_MINGW_WINDRES_x86_64 COLDTRACE_MINGW_DLLTOOL_x86_64)

# IMAGES/<id>/<file name>; beside it the PDB where the toolchain makes one.
set(COLDTRACE_IMAGES ${PROJECT_BINARY_DIR}/fixtures/images)

# The ids of the images that are built.
define_property(GLOBAL PROPERTY coldtrace_images)
set_property(GLOBAL PROPERTY coldtrace_images "")

add_custom_target(coldtrace_images ALL)

# coldtrace_image_path(VARIABLE ID): where the image lies, empty if it is not built.
function(coldtrace_image_path variable id)
  get_property(path GLOBAL PROPERTY coldtrace_image_path_${id})
  set(${variable} "${path}" PARENT_SCOPE)
endfunction()

# coldtrace_add_image(ID TOOLCHAIN llvm|mingw PROCESSOR i686|x86_64|aarch64|thumbv7
#   NAME file.dll SOURCES file... [VERSION 1.2.3.4] [RESOURCES file.rc...] [DEFINITIONS file.def]
#   [COMPILE_OPTIONS ...] [LINK_OPTIONS ...] [IMPORT_LIBRARIES file.def...]
#   [DELAY_IMPORT_LIBRARIES file.def...] [WINE] [PROGRAM])
# VERSION adds a version resource, import libraries are made from the module definitions, WINE marks
# the image as Wine's build tool does, PROGRAM makes no library of it (llvm alone).
function(coldtrace_add_image id)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WINE;PROGRAM" "TOOLCHAIN;PROCESSOR;NAME;VERSION;DEFINITIONS"
    "SOURCES;RESOURCES;COMPILE_OPTIONS;LINK_OPTIONS;IMPORT_LIBRARIES;DELAY_IMPORT_LIBRARIES")
  coldtrace_has_toolchain(has_toolchain ${arg_TOOLCHAIN} ${arg_PROCESSOR})
  if(NOT has_toolchain)
    message(STATUS "Test image ${id} is left out: no ${arg_TOOLCHAIN} toolchain")
    return()
  endif()
  set(folder ${COLDTRACE_IMAGES}/${id})
  set(work ${PROJECT_BINARY_DIR}/fixtures/objects/${id})
  file(MAKE_DIRECTORY ${folder} ${work})

  # The tools write the paths they are given into what they make: they run in the work folder and
  # get relative ones, so that the image is the same in every build folder.
  set(inputs)
  if(arg_VERSION)
    set(file_name ${arg_NAME})
    set(version ${arg_VERSION})
    string(REPLACE "." "," version_commas ${arg_VERSION})
    configure_file(${PROJECT_SOURCE_DIR}/fixtures/asm/common/version.rc.in ${work}/version.rc @ONLY)
    list(APPEND arg_RESOURCES ${work}/version.rc)
  endif()
  foreach(source IN LISTS arg_SOURCES)
    coldtrace_compile_for_image(input ${arg_TOOLCHAIN} ${arg_PROCESSOR} ${work} ${source}
                                ${arg_COMPILE_OPTIONS})
    list(APPEND inputs ${input})
  endforeach()
  foreach(resource IN LISTS arg_RESOURCES)
    coldtrace_compile_resource(input ${arg_TOOLCHAIN} ${arg_PROCESSOR} ${work} ${resource})
    list(APPEND inputs ${input})
  endforeach()
  foreach(definition IN LISTS arg_IMPORT_LIBRARIES)
    coldtrace_make_import_library(input ${arg_TOOLCHAIN} ${arg_PROCESSOR} ${work} ${definition} -l)
    list(APPEND inputs ${input})
  endforeach()
  foreach(definition IN LISTS arg_DELAY_IMPORT_LIBRARIES)
    coldtrace_make_import_library(input ${arg_TOOLCHAIN} ${arg_PROCESSOR} ${work} ${definition} -y)
    list(APPEND inputs ${input})
    if(arg_TOOLCHAIN STREQUAL "llvm")
      get_filename_component(stem ${definition} NAME_WE)
      list(APPEND arg_LINK_OPTIONS /delayload:${stem}.dll)
    endif()
  endforeach()
  set(depends ${inputs})
  list(TRANSFORM depends PREPEND ${work}/)
  set(exports)
  if(arg_DEFINITIONS)
    set(exports exports.def)
    configure_file(${arg_DEFINITIONS} ${work}/${exports} COPYONLY)
    list(APPEND depends ${work}/${exports})
  endif()

  if(arg_PROGRAM)
    list(APPEND arg_LINK_OPTIONS /subsystem:console)
  endif()
  file(RELATIVE_PATH image ${work} ${folder}/${arg_NAME})
  coldtrace_link_command(link ${arg_TOOLCHAIN} ${arg_PROCESSOR} ${image} "${exports}"
                         ${inputs} ${arg_LINK_OPTIONS})
  set(mark)
  if(arg_WINE)
    set(mark COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/fixtures/asm/common/mark_as_wine.py
        ${image})
  endif()
  add_custom_command(OUTPUT ${folder}/${arg_NAME} COMMAND ${link} ${mark}
                     DEPENDS ${depends} WORKING_DIRECTORY ${work} VERBATIM)
  add_custom_target(coldtrace_image_${id} DEPENDS ${folder}/${arg_NAME})
  add_dependencies(coldtrace_images coldtrace_image_${id})
  set_property(GLOBAL APPEND PROPERTY coldtrace_images ${id})
  set_property(GLOBAL PROPERTY coldtrace_image_path_${id} ${folder}/${arg_NAME})
endfunction()

function(coldtrace_has_toolchain variable toolchain processor)
  if(toolchain STREQUAL "llvm")
    set(tools ${COLDTRACE_CLANG} ${COLDTRACE_LLD_LINK} ${COLDTRACE_LLVM_RC}
      ${COLDTRACE_LLVM_DLLTOOL})
  else()
    set(tools ${COLDTRACE_MINGW_GCC_${processor}} ${COLDTRACE_MINGW_WINDRES_${processor}}
      ${COLDTRACE_MINGW_DLLTOOL_${processor}})
  endif()
  if("${tools}" MATCHES "NOTFOUND")
    set(${variable} FALSE PARENT_SCOPE)
  else()
    set(${variable} TRUE PARENT_SCOPE)
  endif()
endfunction()

# The functions below add one step and give the name of its output in the work folder.

function(coldtrace_compile_for_image variable toolchain processor work source)
  if(toolchain STREQUAL "llvm")
    set(compile ${COLDTRACE_CLANG} --target=${processor}-windows-msvc)
  else()
    set(compile ${COLDTRACE_MINGW_GCC_${processor}})
  endif()
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(name ${source} NAME)
  get_filename_component(stem ${source} NAME_WE)
  set(object ${work}/${stem}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${compile} -ffreestanding -O1 -funwind-tables ${ARGN}
            -MD -MF ${object}.d -MT ${object} -c ${name} -o ${object}
    WORKING_DIRECTORY ${folder} DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
  set(${variable} ${stem}.o PARENT_SCOPE)
endfunction()

function(coldtrace_compile_resource variable toolchain processor work resource)
  get_filename_component(folder ${resource} DIRECTORY)
  get_filename_component(name ${resource} NAME)
  get_filename_component(stem ${resource} NAME_WE)
  if(toolchain STREQUAL "llvm")
    set(output ${stem}.res)
    # By its name alone: llvm-rc reads a path that starts with /c as its option /c.
    set(compile ${COLDTRACE_LLVM_RC} /no-preprocess /c65001 /fo ${work}/${output} ${name})
  else()
    set(output ${stem}.res.o)
    set(compile ${COLDTRACE_MINGW_WINDRES_${processor}} -c 65001 ${resource} ${work}/${output})
  endif()
  add_custom_command(OUTPUT ${work}/${output} COMMAND ${compile} WORKING_DIRECTORY ${folder}
                     DEPENDS ${resource} VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()

# `kind` is dlltool's option: -l for a normal, -y for a delay-load library. With lld both are the
# same and the linker decides.
function(coldtrace_make_import_library variable toolchain processor work definition kind)
  get_filename_component(stem ${definition} NAME_WE)
  if(toolchain STREQUAL "llvm")
    coldtrace_library_machine(machine ${processor})
    set(make_library ${COLDTRACE_LLVM_DLLTOOL} -m ${machine} -d ${definition} -l ${stem}.lib)
  else()
    set(make_library ${COLDTRACE_MINGW_DLLTOOL_${processor}} -d ${definition} ${kind} ${stem}.lib)
  endif()
  add_custom_command(OUTPUT ${work}/${stem}.lib COMMAND ${make_library}
                     DEPENDS ${definition} WORKING_DIRECTORY ${work} VERBATIM)
  set(${variable} ${stem}.lib PARENT_SCOPE)
endfunction()

# The command that links ARGN; without an option that names an entry point there is none.
function(coldtrace_link_command variable toolchain processor image exports)
  get_filename_component(folder ${image} DIRECTORY)
  get_filename_component(stem ${image} NAME_WE)
  if(toolchain STREQUAL "llvm")
    coldtrace_linker_machine(machine ${processor})
    set(link ${COLDTRACE_LLD_LINK} /nologo /nodefaultlib /machine:${machine} /Brepro /opt:noref
        /debug /pdb:${folder}/${stem}.pdb /pdbaltpath:${stem}.pdb /pdbsourcepath:/fixtures
        /implib:${stem}.import.lib /out:${image} ${ARGN})
    if(NOT "${ARGN}" MATCHES "/subsystem:console")
      list(APPEND link /dll)
    endif()
    if(NOT "${ARGN}" MATCHES "/entry:")
      list(APPEND link /noentry)
    endif()
    if(exports)
      list(APPEND link /def:${exports})
    endif()
  else()
    set(link ${COLDTRACE_MINGW_GCC_${processor}} -shared -nostdlib -nostartfiles
        -Wl,--no-insert-timestamp -Wl,--disable-auto-image-base -o ${image} ${ARGN} ${exports})
    if(NOT "${ARGN}" MATCHES "--entry")
      list(APPEND link -Wl,--entry=0)
    endif()
  endif()
  set(${variable} ${link} PARENT_SCOPE)
endfunction()

# What lld-link calls a processor.
function(coldtrace_linker_machine variable processor)
  set(i686 x86)
  set(x86_64 x64)
  set(aarch64 arm64)
  set(thumbv7 arm)
  set(${variable} ${${processor}} PARENT_SCOPE)
endfunction()

# What llvm-dlltool calls it.
function(coldtrace_library_machine variable processor)
  set(i686 i386)
  set(x86_64 i386:x86-64)
  set(aarch64 arm64)
  set(thumbv7 arm)
  set(${variable} ${${processor}} PARENT_SCOPE)
endfunction()
