# Stands in for vcpkg's port, which downloads Boost: the Hana that this machine has.
set(VCPKG_BUILD_TYPE release)
find_path(boost boost/hana.hpp PATHS /usr/include /usr/local/include REQUIRED)
file(INSTALL "${boost}/boost/hana.hpp" "${boost}/boost/hana" DESTINATION "${CURRENT_PACKAGES_DIR}/include/boost")
file(WRITE "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright" "Boost Software License\n")
