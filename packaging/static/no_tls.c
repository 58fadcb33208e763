/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_tls.c: of the static program alone. libmicrohttpd.a names functions of GnuTLS, which has no whole
 * static form in Debian (p11-kit is a shared library). The server speaks plain HTTP on loopback and
 * never asks for TLS, so none of these is called; a call would be a bug and ends the program.
 */
#include <stdlib.h>

#define NEVER_CALLED(name)                                                                         \
	_Noreturn void name(void);                                                                 \
	_Noreturn void name(void)                                                                  \
	{                                                                                          \
		abort();                                                                           \
	}

NEVER_CALLED(gnutls_alpn_set_protocols)
NEVER_CALLED(gnutls_bye)
NEVER_CALLED(gnutls_certificate_allocate_credentials)
NEVER_CALLED(gnutls_certificate_free_credentials)
NEVER_CALLED(gnutls_certificate_server_set_request)
NEVER_CALLED(gnutls_certificate_set_dh_params)
NEVER_CALLED(gnutls_certificate_set_retrieve_function2)
NEVER_CALLED(gnutls_certificate_set_retrieve_function3)
NEVER_CALLED(gnutls_certificate_set_x509_key_mem)
NEVER_CALLED(gnutls_certificate_set_x509_key_mem2)
NEVER_CALLED(gnutls_certificate_set_x509_trust_mem)
NEVER_CALLED(gnutls_cipher_get)
NEVER_CALLED(gnutls_credentials_set)
NEVER_CALLED(gnutls_deinit)
NEVER_CALLED(gnutls_dh_params_deinit)
NEVER_CALLED(gnutls_dh_params_import_pkcs3)
NEVER_CALLED(gnutls_dh_params_init)
NEVER_CALLED(gnutls_handshake)
NEVER_CALLED(gnutls_init)
NEVER_CALLED(gnutls_priority_deinit)
NEVER_CALLED(gnutls_priority_init)
NEVER_CALLED(gnutls_priority_set)
NEVER_CALLED(gnutls_protocol_get_version)
NEVER_CALLED(gnutls_psk_allocate_server_credentials)
NEVER_CALLED(gnutls_psk_free_server_credentials)
NEVER_CALLED(gnutls_psk_set_server_credentials_function)
NEVER_CALLED(gnutls_record_check_pending)
NEVER_CALLED(gnutls_record_get_direction)
NEVER_CALLED(gnutls_record_recv)
NEVER_CALLED(gnutls_record_send)
NEVER_CALLED(gnutls_session_get_ptr)
NEVER_CALLED(gnutls_session_set_ptr)
NEVER_CALLED(gnutls_strerror)
NEVER_CALLED(gnutls_transport_set_int2)

/* a pointer to a function there, not a function */
extern void *(*gnutls_malloc)(size_t n);
void *(*gnutls_malloc)(size_t n) = malloc;

/* MHD_init() calls these two when the program starts. */
int gnutls_global_init(void);
int gnutls_global_init(void)
{
	return 0;
}

void gnutls_global_deinit(void);
void gnutls_global_deinit(void)
{
}
