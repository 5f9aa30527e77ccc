# Read by cpack with the installed files in place: adds what Debian's policy asks of a package's documentation.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
set(folder ${CPACK_ACRE_SOURCE}/packaging/debian)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH, where that is set
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(maintainer ${CPACK_PACKAGE_CONTACT})
configure_file(${CPACK_ACRE_SOURCE}/LICENSE ${share}/doc/acre/copyright COPYONLY)
configure_file(${CPACK_ACRE_SOURCE}/CHANGELOG.md ${share}/doc/acre/changelog COPYONLY)
configure_file(${folder}/changelog.in ${share}/doc/acre/changelog.Debian @ONLY)
configure_file(${folder}/lintian-overrides ${share}/lintian/overrides/acre COPYONLY)
file(GLOB compressed ${share}/man/man1/*.1 ${share}/doc/acre/changelog*)
execute_process(COMMAND gzip -9 -n -f ${compressed} COMMAND_ERROR_IS_FATAL ANY)
