#include "COpenSSL.h"
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <string.h>

enum { COORDINATE = 32, RSA_BITS = 2048 };

/// Answers "no password" where OpenSSL would otherwise ask on the terminal.
static int no_password(char *buffer, int size, int writing, void *context) {
  (void)buffer, (void)size, (void)writing, (void)context;
  return -1;
}

EVP_PKEY *fanfare_private_key(const void *pem, size_t count) {
  BIO *bio = BIO_new_mem_buf(pem, (int)count);
  EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
  BIO_free(bio);
  return key;
}

EVP_PKEY *fanfare_public_key(const void *pem, size_t count) {
  BIO *bio = BIO_new_mem_buf(pem, (int)count);
  EVP_PKEY *key = PEM_read_bio_PUBKEY(bio, NULL, no_password, NULL);
  BIO_free(bio);
  return key;
}

int fanfare_key_is(EVP_PKEY *key, int algorithm) {
  if (algorithm == FANFARE_RS256) return EVP_PKEY_is_a(key, "RSA") && EVP_PKEY_get_bits(key) >= RSA_BITS;
  char group[64];
  size_t size = 0;
  return EVP_PKEY_is_a(key, "EC") && EVP_PKEY_get_group_name(key, group, sizeof group, &size) == 1
         && strcmp(group, "prime256v1") == 0;
}

EVP_PKEY *fanfare_generate_key(int algorithm) {
  if (algorithm == FANFARE_RS256) return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)RSA_BITS);
  return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}

/// The BIO's bytes in memory of their own; frees the BIO.
static uint8_t *take(BIO *bio, size_t *count) {
  char *bytes = NULL;
  long size = BIO_get_mem_data(bio, &bytes);
  uint8_t *copy = OPENSSL_malloc((size_t)size + 1);
  if (copy != NULL) memcpy(copy, bytes, (size_t)size);
  *count = (size_t)size;
  BIO_free(bio);
  return copy;
}

uint8_t *fanfare_private_key_pem(EVP_PKEY *key, size_t *count) {
  BIO *bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
  return take(bio, count);
}

uint8_t *fanfare_public_key_pem(EVP_PKEY *key, size_t *count) {
  BIO *bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PUBKEY(bio, key);
  return take(bio, count);
}

uint8_t *fanfare_certificate_pem(X509 *certificate, size_t *count) {
  BIO *bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  return take(bio, count);
}

void fanfare_free(void *pointer) { OPENSSL_free(pointer); }

size_t fanfare_signature_size(EVP_PKEY *key) { return (size_t)EVP_PKEY_get_size(key); }

/// An ECDSA signature from DER to r||s; 64, or 0.
static size_t join(const uint8_t *der, size_t der_count, uint8_t *out, size_t size) {
  const uint8_t *next = der;
  ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &next, (long)der_count);
  if (pair == NULL || size < 2 * COORDINATE) return 0;
  int fits = BN_bn2binpad(ECDSA_SIG_get0_r(pair), out, COORDINATE) == COORDINATE
             && BN_bn2binpad(ECDSA_SIG_get0_s(pair), out + COORDINATE, COORDINATE) == COORDINATE;
  ECDSA_SIG_free(pair);
  return fits ? 2 * COORDINATE : 0;
}

size_t fanfare_sign(EVP_PKEY *key, int algorithm, const void *message, size_t count, uint8_t *signature, size_t size) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  size_t made = size;
  int good = EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1
             && EVP_DigestSign(context, signature, &made, message, count) == 1;
  EVP_MD_CTX_free(context);
  if (!good) return 0;
  if (algorithm == FANFARE_RS256) return made;
  uint8_t joined[2 * COORDINATE];
  size_t whole = join(signature, made, joined, sizeof joined);
  memcpy(signature, joined, whole);
  return whole;
}

/// r||s to DER, in memory of its own; 0 bytes on failure.
static int split(const uint8_t *joined, size_t count, uint8_t **der) {
  if (count != 2 * COORDINATE) return 0;
  ECDSA_SIG *pair = ECDSA_SIG_new();
  ECDSA_SIG_set0(
      pair, BN_bin2bn(joined, COORDINATE, NULL), BN_bin2bn(joined + COORDINATE, COORDINATE, NULL));
  int size = i2d_ECDSA_SIG(pair, der);
  ECDSA_SIG_free(pair);
  return size > 0 ? size : 0;
}

int fanfare_verify(
    EVP_PKEY *key, int algorithm, const void *signature, size_t signature_count, const void *message, size_t count) {
  uint8_t *der = NULL;
  if (algorithm == FANFARE_ES256) {
    signature_count = (size_t)split(signature, signature_count, &der);
    if (signature_count == 0) return 0;
    signature = der;
  }
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  int good = EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1
             && EVP_DigestVerify(context, signature, signature_count, message, count) == 1;
  EVP_MD_CTX_free(context);
  OPENSSL_free(der);
  ERR_clear_error();
  return good;
}
