#pragma once
// libmicrohttpd starts and informs through variadic functions, which Swift cannot call.
#include <microhttpd.h>

struct fanfare_mhd_callbacks {
    void *context;
    /// Asked for each connection before it counts; MHD_NO closes it.
    MHD_AcceptPolicyCallback accept;
    MHD_AccessHandlerCallback access;
    /// Is given the request's target before anything in it is decoded; what it returns becomes the request's context.
    void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
};

/// A certificate chain with its key, as handshakes show them.
struct gnutls_certificate_credentials_st;
/// Both as PEM. NULL if they cannot be used or do not belong together; then `reason` is a text that lasts.
struct gnutls_certificate_credentials_st *fanfare_credentials(const unsigned char *chain, size_t chain_size,
                                                              const unsigned char *key, size_t key_size,
                                                              const char **reason);
/// When no connection uses them any more.
void fanfare_free_credentials(struct gnutls_certificate_credentials_st *credentials);

/// A daemon without threads on a listening socket, which becomes its own. `tls`: each connection must be given
/// credentials as it starts. NULL if it cannot start; then the socket is closed.
struct MHD_Daemon *fanfare_mhd_start(int listening, unsigned connections, size_t memory, int tls,
                                     struct fanfare_mhd_callbacks callbacks);
/// Before its handshake, so from the connection callback. They must outlive the connection.
void fanfare_mhd_use(struct MHD_Connection *connection, struct gnutls_certificate_credentials_st *credentials);
/// The descriptor that becomes readable when `MHD_run` has work.
int fanfare_mhd_epoll(struct MHD_Daemon *daemon);
int fanfare_mhd_socket(struct MHD_Connection *connection);
/// What the connection callback stored for this connection.
void *fanfare_mhd_context(struct MHD_Connection *connection);
/// Writes past libmicrohttpd what the connection takes at once, through its TLS if it has one. The count, or below 0.
ssize_t fanfare_mhd_write(struct MHD_Connection *connection, const void *bytes, size_t count);
