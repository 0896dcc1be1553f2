#include "CMicroHTTPD.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <sys/socket.h>

/// TLS 1.2 only with forward secrecy and authenticated encryption; TLS 1.3 has nothing else. `make check-tls` tests it.
static const char priorities[] =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA"
    ":-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD"
    ":-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1";

/// The daemon's own credentials have no certificate: each connection is given some.
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int authorities_count,
                          const gnutls_pk_algorithm_t *algorithms, int algorithms_count, gnutls_pcert_st **chain,
                          unsigned *chain_count, gnutls_privkey_t *key) {
    return -1;
}

struct gnutls_certificate_credentials_st *fanfare_credentials(const unsigned char *chain, size_t chain_size,
                                                              const unsigned char *key, size_t key_size,
                                                              const char **reason) {
    gnutls_certificate_credentials_t credentials;
    int result = gnutls_certificate_allocate_credentials(&credentials);
    if (result == GNUTLS_E_SUCCESS) {
        gnutls_datum_t chain_bytes = {(unsigned char *)chain, (unsigned)chain_size};
        gnutls_datum_t key_bytes = {(unsigned char *)key, (unsigned)key_size};
        result = gnutls_certificate_set_x509_key_mem(credentials, &chain_bytes, &key_bytes, GNUTLS_X509_FMT_PEM);
        if (result >= 0) return credentials;
        gnutls_certificate_free_credentials(credentials);
    }
    *reason = gnutls_strerror(result);
    return NULL;
}

void fanfare_free_credentials(struct gnutls_certificate_credentials_st *credentials) {
    gnutls_certificate_free_credentials(credentials);
}

void fanfare_mhd_use(struct MHD_Connection *connection, struct gnutls_certificate_credentials_st *credentials) {
    const union MHD_ConnectionInfo *tls = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (tls && tls->tls_session) gnutls_credentials_set(tls->tls_session, GNUTLS_CRD_CERTIFICATE, credentials);
}

struct MHD_Daemon *fanfare_mhd_start(int listening, unsigned connections, size_t memory, int tls,
                                     struct fanfare_mhd_callbacks callbacks) {
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (tls ? MHD_USE_TLS : 0);
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)no_certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)priorities},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(flags, 0, callbacks.accept, callbacks.context, callbacks.access, callbacks.context,
                            MHD_OPTION_LISTEN_SOCKET, listening,
                            MHD_OPTION_CONNECTION_LIMIT, connections,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
                            MHD_OPTION_URI_LOG_CALLBACK, callbacks.target, callbacks.context,
                            MHD_OPTION_NOTIFY_COMPLETED, callbacks.completed, callbacks.context,
                            MHD_OPTION_NOTIFY_CONNECTION, callbacks.connection, callbacks.context,
                            MHD_OPTION_ARRAY, tls ? options : options + 2,
                            MHD_OPTION_END);
}

int fanfare_mhd_epoll(struct MHD_Daemon *daemon) {
    return MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

int fanfare_mhd_socket(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

void *fanfare_mhd_context(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

ssize_t fanfare_mhd_write(struct MHD_Connection *connection, const void *bytes, size_t count) {
    const union MHD_ConnectionInfo *tls = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (tls && tls->tls_session) return gnutls_record_send(tls->tls_session, bytes, count);
    return send(fanfare_mhd_socket(connection), bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
}
