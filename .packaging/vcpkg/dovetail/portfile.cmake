# An overlay port: `vcpkg install dovetail --overlay-ports=.packaging/vcpkg` installs the tree that this file is in.
set(VCPKG_BUILD_TYPE release)  # header-only
set(VCPKG_FIXUP_ELF_RPATH OFF)  # no binaries: vcpkg need not download patchelf to see that
set(VCPKG_POLICY_SKIP_PKGCONFIG_CHECK enabled)  # dovetail.pc is in share/, where debug builds look too, though it says `Libs: -pthread`
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DDOVETAIL_BUILD_TESTS=OFF -DDOVETAIL_BUILD_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/dovetail)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/licenses" "${CURRENT_PACKAGES_DIR}/share/cmake")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
