# Imported targets gneiss::amdhip64 (HIP) and gneiss::hsa-runtime64 (HSA).
get_filename_component(_gneiss_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

foreach(_gneiss_library IN ITEMS amdhip64 hsa-runtime64)
    if(NOT TARGET gneiss::${_gneiss_library})
        add_library(gneiss::${_gneiss_library} SHARED IMPORTED)
        set_target_properties(gneiss::${_gneiss_library} PROPERTIES
            IMPORTED_LOCATION "${_gneiss_prefix}/lib/lib${_gneiss_library}.so"
            INTERFACE_INCLUDE_DIRECTORIES "${_gneiss_prefix}/include")
    endif()
endforeach()

set_target_properties(gneiss::amdhip64 PROPERTIES IMPORTED_SONAME libamdhip64.so.5)
set_target_properties(gneiss::hsa-runtime64 PROPERTIES IMPORTED_SONAME libhsa-runtime64.so.1)

unset(_gneiss_library)
unset(_gneiss_prefix)
