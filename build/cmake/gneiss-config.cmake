# Imported targets gneiss::amdhip64 (HIP) and gneiss::hsa-runtime64 (HSA). GNEISS_HIP_VERSION is the major version of the HIP headers that the
# program is built with: 5 (the default), 6 or 7.
get_filename_component(_gneiss_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

foreach(_gneiss_library IN ITEMS amdhip64 hsa-runtime64)
    if(NOT TARGET gneiss::${_gneiss_library})
        add_library(gneiss::${_gneiss_library} SHARED IMPORTED)
        set_target_properties(gneiss::${_gneiss_library} PROPERTIES
            IMPORTED_LOCATION "${_gneiss_prefix}/lib/lib${_gneiss_library}.so"
            INTERFACE_INCLUDE_DIRECTORIES "${_gneiss_prefix}/include")
    endif()
endforeach()

if(NOT DEFINED GNEISS_HIP_VERSION)
    set(GNEISS_HIP_VERSION 5)
endif()
if(NOT GNEISS_HIP_VERSION MATCHES "^[567]$")
    message(FATAL_ERROR "GNEISS_HIP_VERSION is ${GNEISS_HIP_VERSION}: 5, 6 and 7 are there")
endif()
set_target_properties(gneiss::amdhip64 PROPERTIES IMPORTED_SONAME libamdhip64.so.${GNEISS_HIP_VERSION})
if(NOT GNEISS_HIP_VERSION EQUAL 5)
    # What is linked has no code; the soname leads to the library.
    set_target_properties(gneiss::amdhip64 PROPERTIES
        IMPORTED_LOCATION "${_gneiss_prefix}/lib/gneiss/hip-${GNEISS_HIP_VERSION}/libamdhip64.so"
        INTERFACE_LINK_OPTIONS "LINKER:-rpath,${_gneiss_prefix}/lib")
endif()
set_target_properties(gneiss::hsa-runtime64 PROPERTIES IMPORTED_SONAME libhsa-runtime64.so.1)

unset(_gneiss_library)
unset(_gneiss_prefix)
