# What `cpack` makes: a .deb of the library, the command, the recorder, libacre-malloc and the C interface, with man
# pages and completion. `make deb` builds and makes it.
set(CPACK_PACKAGE_NAME acre)
set(CPACK_PACKAGE_CONTACT "the acre developers <acre@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Arenas, pools and heaps for C++20, and a command that advises which")
set(CPACK_PACKAGE_DESCRIPTION
    "acre is a library of arenas, pools and heaps: headers for C++20, and libacre.so\n\
for C. The command acre records the allocations of a program without a rebuild,\n\
advises which of these resources to use, and measures what they gain.\n\
libacre-malloc.so runs a whole program on acre's heap.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
# With DESTDIR the rules of installing see the prefix that the files will have.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)
# Adds compressed man pages, copyright and changelogs to the installed files.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/documents.cmake)
set(CPACK_ACRE_SOURCE ${PROJECT_SOURCE_DIR})

# Other packages that link libacre.so depend on this one, and the loader's cache knows the libraries.
configure_file(packaging/debian/shlibs.in ${CMAKE_CURRENT_BINARY_DIR}/debian/shlibs @ONLY)
configure_file(packaging/debian/triggers ${CMAKE_CURRENT_BINARY_DIR}/debian/triggers COPYONLY)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/debian/shlibs ${CMAKE_CURRENT_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
include(CPack)
