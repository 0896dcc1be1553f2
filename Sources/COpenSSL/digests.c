// The low-level functions: about 0.1 µs for a short text, where a fetch by EVP costs several times that. They are marked as
// deprecated for programs that want another provider's implementation; nothing here does.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "COpenSSL.h"
#include <openssl/hmac.h>
#include <openssl/sha.h>

void fanfare_sha1(const void *bytes, size_t count, uint8_t digest[20]) {
  SHA_CTX state;
  SHA1_Init(&state);
  SHA1_Update(&state, bytes, count);
  SHA1_Final(digest, &state);
}

void fanfare_sha256(const void *bytes, size_t count, uint8_t digest[32]) {
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, bytes, count);
  SHA256_Final(digest, &state);
}

int fanfare_hmac_sha256(const void *key, size_t key_count, const void *bytes, size_t count, uint8_t mac[32]) {
  unsigned size = 32;
  // A null key would mean "the last one" to OpenSSL.
  return HMAC(EVP_sha256(), key == NULL ? "" : key, (int)key_count, bytes, count, mac, &size) != NULL;
}
