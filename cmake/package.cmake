# One Debian package: `cmake --build --preset release --target package` leaves it in build/release.

install(TARGETS oyatd oyat-keeper oyat RUNTIME DESTINATION bin)
install(TARGETS oyat-agent RUNTIME DESTINATION lib/oyat)
install(PROGRAMS packaging/hold-sandboxes packaging/start-keeper packaging/end-sandboxes packaging/make-key
        DESTINATION lib/oyat)

# What makes the template base keeps the folders of the source tree below lib/oyat; `oyat up` starts it by the link.
install(PROGRAMS scripts/make-base scripts/debian-sources DESTINATION lib/oyat/scripts)
install(FILES scripts/lib.sh DESTINATION lib/oyat/scripts)
install(FILES packaging/packages-base.txt DESTINATION lib/oyat/packaging)
file(CREATE_LINK scripts/make-base ${CMAKE_BINARY_DIR}/make-base SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/make-base DESTINATION lib/oyat)

install(FILES packaging/systemd/oyat.service packaging/systemd/oyat-keeper.service packaging/systemd/oyat-sandboxes.service
              packaging/systemd/oyat.slice DESTINATION lib/systemd/system)
install(FILES packaging/oyat.toml DESTINATION /etc/oyat)
install(FILES packaging/oyat.1 DESTINATION share/man/man1)
install(FILES LICENSE DESTINATION share/doc/oyat RENAME copyright)

# The program itself writes its completions, so they always fit it.
set(completions "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share")
foreach(script bash:bash-completion/completions/oyat zsh:zsh/vendor-completions/_oyat)
  string(REGEX MATCH "^([a-z]+):(.*)/(.*)$" ignored ${script})
  install(CODE "
    file(MAKE_DIRECTORY \"${completions}/${CMAKE_MATCH_2}\")
    execute_process(COMMAND \"$<TARGET_FILE:oyat>\" completion ${CMAKE_MATCH_1}
                    OUTPUT_FILE \"${completions}/${CMAKE_MATCH_2}/${CMAKE_MATCH_3}\" COMMAND_ERROR_IS_FATAL ANY)")
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME oyat)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "oyat <oyat@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "sandbox server for AI agents")
set(CPACK_PACKAGE_DESCRIPTION "Runs what agents do in sandboxes with a boundary one can name, hard limits, a network that only
 policy opens, and a record. The published SDKs of E2B work against it unmodified.")
set(CPACK_SET_DESTDIR ON)  # /etc lies outside the prefix
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "systemd, passwd, e2fsprogs, ca-certificates")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "mmdebstrap, zstd, btrfs-progs, python3")
set(control ${CMAKE_SOURCE_DIR}/packaging/deb)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${control}/conffiles ${control}/postinst ${control}/prerm ${control}/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
