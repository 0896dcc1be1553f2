#pragma once
// OpenSSL for the TLS module, its only importer. What Swift cannot call (macros, variadic functions) or would need many
// unsafe lines for (certificates) is wrapped here.
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Digests (digests.c)

void fanfare_sha1(const void *bytes, size_t count, uint8_t digest[20]);
void fanfare_sha256(const void *bytes, size_t count, uint8_t digest[32]);
/// 1 on success.
int fanfare_hmac_sha256(const void *key, size_t key_count, const void *bytes, size_t count, uint8_t mac[32]);

// MARK: Keys (keys.c). PEM comes back in a memory BIO's bytes, to be released with fanfare_free.

enum { FANFARE_ES256 = 0, FANFARE_RS256 = 1 };
/// Null if the PEM holds no unencrypted private key. Never prompts.
EVP_PKEY *fanfare_private_key(const void *pem, size_t count);
EVP_PKEY *fanfare_public_key(const void *pem, size_t count);
/// 1 if the key is of the algorithm's kind: P-256, or RSA of at least 2,048 bits.
int fanfare_key_is(EVP_PKEY *key, int algorithm);
EVP_PKEY *fanfare_generate_key(int algorithm);
uint8_t *fanfare_private_key_pem(EVP_PKEY *key, size_t *count);
uint8_t *fanfare_public_key_pem(EVP_PKEY *key, size_t *count);
void fanfare_free(void *pointer);
/// Bytes that a signature takes at most.
size_t fanfare_signature_size(EVP_PKEY *key);
/// Bytes written, 0 on failure. ES256 writes r||s, 64 bytes.
size_t fanfare_sign(EVP_PKEY *key, int algorithm, const void *message, size_t count, uint8_t *signature, size_t size);
/// 1 if it verifies.
int fanfare_verify(
    EVP_PKEY *key, int algorithm, const void *signature, size_t signature_count, const void *message, size_t count);

// MARK: The curve P-256, and AES-128-GCM (curves.c). A point is uncompressed, 65 bytes; a scalar is 1 … order - 1, 32 bytes.

/// 1 if it is one of the curve's points.
int fanfare_p256_is_point(const uint8_t point[65]);
/// 1 if both are valid. `point` may be null: the generator.
int fanfare_p256_multiply(const uint8_t scalar[32], const uint8_t *point, uint8_t product[65]);
/// Null if the scalar is none.
EVP_PKEY *fanfare_p256_private_key(const uint8_t scalar[32]);
/// Null if the point is none.
EVP_PKEY *fanfare_p256_public_key(const uint8_t point[65]);
/// 1 if the key is of this curve.
int fanfare_p256_point(EVP_PKEY *key, uint8_t point[65]);
/// `sealed` has room for 16 bytes more than `plain`. 1 on success.
int fanfare_seal_aes128gcm(
    const uint8_t key[16], const uint8_t nonce[12], const uint8_t *plain, size_t count, uint8_t *sealed);
/// 1 if nobody has changed it; `plain` has 16 bytes less.
int fanfare_open_aes128gcm(
    const uint8_t key[16], const uint8_t nonce[12], const uint8_t *sealed, size_t count, uint8_t *plain);

// MARK: Certificates (certificates.c)

/// A self-signed authority for `key`.
X509 *fanfare_make_authority(EVP_PKEY *key, const char *name, long days);
/// A server certificate for `key`, signed by the authority. `hosts`: DNS names and IP addresses; the first is the subject.
X509 *fanfare_make_leaf(
    EVP_PKEY *key, X509 *authority, EVP_PKEY *authority_key, const char *const *hosts, size_t host_count, long days);
X509 *fanfare_certificate(const void *pem, size_t count);
/// 1 if the certificate is valid now and in that many days.
int fanfare_is_valid_in(X509 *certificate, long days);
uint8_t *fanfare_certificate_pem(X509 *certificate, size_t *count);
/// A client certificate for `key` that ends in so many seconds (less than zero: ended), with the authority as its issuer.
/// `uid`: the subject's user id, or null. Extensions may follow, then the signature.
X509 *fanfare_begin_client(EVP_PKEY *key, X509 *authority, const char *name, const char *uid, long seconds);
/// 1 if the extension (DER) was added.
int fanfare_add_extension(X509 *certificate, const char *oid, const void *value, size_t count);
int fanfare_sign_certificate(X509 *certificate, EVP_PKEY *authority_key);
/// UNIX seconds.
int64_t fanfare_not_before(X509 *certificate);
int64_t fanfare_not_after(X509 *certificate);
/// The first part of the subject of that kind (a NID) as UTF-8, to be released with fanfare_free; null if there is none.
uint8_t *fanfare_subject(X509 *certificate, int kind, size_t *count);
/// The content of an extension (DER), to be released with fanfare_free; null if there is none.
uint8_t *fanfare_extension(X509 *certificate, const char *oid, size_t *count);

// MARK: Identities (identities.c): a certificate with its key

/// As fanfare_private_key, for PEM that may be encrypted. `password` may be null. Never prompts.
EVP_PKEY *fanfare_locked_key(const void *pem, size_t count, const char *password);
enum { FANFARE_IDENTITY = 1, FANFARE_NO_PKCS12 = 0, FANFARE_WRONG_PASSWORD = -1, FANFARE_NO_IDENTITY = -2 };
/// The key, and the certificate with its chain as PEM (released with fanfare_free), of a PKCS#12 file.
int fanfare_read_pkcs12(
    const void *bytes, size_t count, const char *password, EVP_PKEY **key, uint8_t **chain, size_t *chain_count);
/// `legacy`: with the old ciphers that Keychain Access writes.
uint8_t *fanfare_make_pkcs12(EVP_PKEY *key, X509 *certificate, const char *password, int legacy, size_t *count);

// MARK: Sessions (sessions.c)

/// TLS 1.2 or later, without renegotiation, tickets or compression, reading ahead 64 KB.
SSL_CTX *fanfare_context(int server);
/// 1 if the chain and the key were taken and belong together.
int fanfare_use_certificate(SSL_CTX *context, const void *chain, size_t chain_count, EVP_PKEY *key);
/// `wire`: length-prefixed names; it must outlive the context. A client that offers none of them goes on without.
void fanfare_serve_alpn(SSL_CTX *context, const uint8_t *wire);
/// The server asks clients for a certificate of these authorities (PEM) and goes on without one, or with a bad one, which
/// shows in SSL_get_verify_result. 1 if the authorities were taken.
int fanfare_ask_clients(SSL_CTX *context, const void *authorities, size_t count);
/// The peer's own certificate as PEM, to be released with fanfare_free; null if it showed none.
uint8_t *fanfare_peer_certificate(SSL *session, size_t *count);
/// A session over the descriptor, which stays the caller's; writes never raise SIGPIPE. Null without memory.
SSL *fanfare_session(SSL_CTX *context, int fd);
/// Requires a certificate for that DNS name or IP address, and sends the name (SNI). 1 on success.
int fanfare_expect_host(SSL *session, const char *host);
/// The oldest error of this thread's queue as text; empties the queue.
void fanfare_error_text(char *text, size_t size);
/// Moves bytes as SSL_read_ex and SSL_write_ex do, with an empty error queue before; returns SSL_get_error's code.
int fanfare_read(SSL *session, void *buffer, size_t size, size_t *moved);
int fanfare_write(SSL *session, const void *bytes, size_t count, size_t *moved);
int fanfare_handshake(SSL *session);
