#include "COpenSSL.h"
#include <arpa/inet.h>
#include <errno.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { READ_AHEAD = 64 * 1024 };

// MARK: Socket BIO
// OpenSSL's own writes with write(2), which raises SIGPIPE when the peer has gone. This one differs only in MSG_NOSIGNAL, so
// that the process need not ignore a signal for a library's sake.

static BIO_METHOD *quiet_method;

static int again(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

static int quiet_read(BIO *bio, char *buffer, int size) {
  ssize_t count = recv((int)(intptr_t)BIO_get_data(bio), buffer, (size_t)size, 0);
  BIO_clear_retry_flags(bio);
  if (count < 0 && again()) BIO_set_retry_read(bio);
  if (count == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return (int)count;
}

static int quiet_write(BIO *bio, const char *bytes, int count) {
  ssize_t written = send((int)(intptr_t)BIO_get_data(bio), bytes, (size_t)count, MSG_NOSIGNAL);
  BIO_clear_retry_flags(bio);
  if (written < 0 && again()) BIO_set_retry_write(bio);
  return (int)written;
}

static long quiet_control(BIO *bio, int command, long number, void *pointer) {
  (void)number, (void)pointer;
  if (command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP) return 1;
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
  return 0;
}

static void make_quiet_method(void) {
  quiet_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without SIGPIPE");
  BIO_meth_set_read(quiet_method, quiet_read);
  BIO_meth_set_write(quiet_method, quiet_write);
  BIO_meth_set_ctrl(quiet_method, quiet_control);
}

// MARK: Contexts

SSL_CTX *fanfare_context(int server) {
  SSL_CTX *context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
  if (context == NULL) return NULL;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // A missing close_notify reads as an end: the protocols above know by themselves whether they were cut short.
  SSL_CTX_set_options(
      context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (server) SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, READ_AHEAD);
  if (!server) SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  return context;
}

int fanfare_use_certificate(SSL_CTX *context, const void *chain, size_t chain_count, EVP_PKEY *key) {
  BIO *bio = BIO_new_mem_buf(chain, (int)chain_count);
  X509 *leaf = PEM_read_bio_X509(bio, NULL, NULL, NULL);
  int good = leaf != NULL && SSL_CTX_use_certificate(context, leaf) == 1;
  X509_free(leaf);
  X509 *next;
  while (good && (next = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
    // Takes the certificate over when it succeeds.
    if (SSL_CTX_add_extra_chain_cert(context, next) != 1) {
      X509_free(next);
      good = 0;
    }
  }
  BIO_free(bio);
  // Reading past the last certificate leaves "no start line" in the queue.
  if (good) ERR_clear_error();
  return good && SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1;
}

static int choose_protocol(
    SSL *session, const unsigned char **chosen, unsigned char *size, const unsigned char *offered, unsigned count,
    void *wire) {
  (void)session;
  unsigned char *found = NULL;
  if (SSL_select_next_proto(&found, size, wire, (unsigned)strlen(wire), offered, count) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

void fanfare_serve_alpn(SSL_CTX *context, const uint8_t *wire) {
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, (void *)wire);
}

/// The fault of a client's chain is kept as the session's verify result: what it means is for the server's owner to say.
static int take_any(int good, X509_STORE_CTX *context) {
  (void)good, (void)context;
  return 1;
}

int fanfare_ask_clients(SSL_CTX *context, const void *authorities, size_t count) {
  BIO *bio = BIO_new_mem_buf(authorities, (int)count);
  X509_STORE *store = SSL_CTX_get_cert_store(context);
  int taken = 0;
  X509 *authority;
  while ((authority = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
    if (X509_STORE_add_cert(store, authority) == 1 && SSL_CTX_add_client_CA(context, authority) == 1) taken += 1;
    X509_free(authority);
  }
  BIO_free(bio);
  ERR_clear_error();
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, take_any);
  return taken > 0;
}

uint8_t *fanfare_peer_certificate(SSL *session, size_t *count) {
  X509 *certificate = SSL_get0_peer_certificate(session);
  return certificate == NULL ? NULL : fanfare_certificate_pem(certificate, count);
}

// MARK: Sessions

SSL *fanfare_session(SSL_CTX *context, int fd) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_quiet_method);
  SSL *session = SSL_new(context);
  BIO *bio = BIO_new(quiet_method);
  if (session == NULL || bio == NULL) {
    SSL_free(session);
    BIO_free(bio);
    return NULL;
  }
  BIO_set_data(bio, (void *)(intptr_t)fd);
  BIO_set_init(bio, 1);
  SSL_set_bio(session, bio, bio);
  return session;
}

int fanfare_expect_host(SSL *session, const char *host) {
  unsigned char address[16];
  if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host);
  SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(session, host) == 1 && SSL_set_tlsext_host_name(session, host) == 1;
}

void fanfare_error_text(char *text, size_t size) {
  unsigned long code = ERR_get_error();
  const char *reason = code == 0 ? NULL : ERR_reason_error_string(code);
  if (reason != NULL) {
    snprintf(text, size, "%s", reason);
  } else if (code != 0) {
    ERR_error_string_n(code, text, size);
  } else if (size > 0) {
    text[0] = 0;
  }
  ERR_clear_error();
}

int fanfare_read(SSL *session, void *buffer, size_t size, size_t *moved) {
  ERR_clear_error();
  errno = 0;
  return SSL_get_error(session, SSL_read_ex(session, buffer, size, moved));
}

int fanfare_write(SSL *session, const void *bytes, size_t count, size_t *moved) {
  ERR_clear_error();
  errno = 0;
  return SSL_get_error(session, SSL_write_ex(session, bytes, count, moved));
}

int fanfare_handshake(SSL *session) {
  ERR_clear_error();
  errno = 0;
  return SSL_get_error(session, SSL_do_handshake(session));
}
