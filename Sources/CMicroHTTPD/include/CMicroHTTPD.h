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

/// A daemon without threads on a listening socket, which becomes its own. Certificate and key (PEM, may be NULL) must
/// outlive it. NULL if it cannot start; then the socket is closed.
struct MHD_Daemon *fanfare_mhd_start(int listening, unsigned connections, size_t memory, const char *certificate,
                                     const char *key, struct fanfare_mhd_callbacks callbacks);
/// The descriptor that becomes readable when `MHD_run` has work.
int fanfare_mhd_epoll(struct MHD_Daemon *daemon);
int fanfare_mhd_socket(struct MHD_Connection *connection);
/// What the connection callback stored for this connection.
void *fanfare_mhd_context(struct MHD_Connection *connection);
/// Writes past libmicrohttpd what the connection takes at once, through its TLS if it has one. The count, or below 0.
ssize_t fanfare_mhd_write(struct MHD_Connection *connection, const void *bytes, size_t count);
