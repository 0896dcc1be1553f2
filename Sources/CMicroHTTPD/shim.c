#include "CMicroHTTPD.h"

#include <gnutls/gnutls.h>
#include <sys/socket.h>

struct MHD_Daemon *fanfare_mhd_start(int listening, unsigned connections, size_t memory, const char *certificate,
                                     const char *key, struct fanfare_mhd_callbacks callbacks) {
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (certificate ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(flags, 0, callbacks.accept, callbacks.context, callbacks.access, callbacks.context,
                            MHD_OPTION_LISTEN_SOCKET, listening,
                            MHD_OPTION_CONNECTION_LIMIT, connections,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
                            MHD_OPTION_URI_LOG_CALLBACK, callbacks.target, callbacks.context,
                            MHD_OPTION_NOTIFY_COMPLETED, callbacks.completed, callbacks.context,
                            MHD_OPTION_NOTIFY_CONNECTION, callbacks.connection, callbacks.context,
                            MHD_OPTION_ARRAY, certificate ? tls : tls + 3,
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
