#include "COpenSSL.h"
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <string.h>

/// Hands out the password that it is given, where OpenSSL would otherwise ask on the terminal.
static int told_password(char *buffer, int size, int writing, void *context) {
  (void)writing;
  const char *password = context;
  if (password == NULL) return -1;
  int count = (int)strlen(password);
  if (count > size) return -1;
  memcpy(buffer, password, (size_t)count);
  return count;
}

EVP_PKEY *fanfare_locked_key(const void *pem, size_t count, const char *password) {
  BIO *bio = BIO_new_mem_buf(pem, (int)count);
  EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, told_password, (void *)password);
  BIO_free(bio);
  return key;
}

static int opened(PKCS12 *file, const char *password, EVP_PKEY **key, X509 **leaf, STACK_OF(X509) **others) {
  *others = NULL;
  return PKCS12_parse(file, password, key, leaf, others);
}

int fanfare_read_pkcs12(
    const void *bytes, size_t count, const char *password, EVP_PKEY **key, uint8_t **chain, size_t *chain_count) {
  const unsigned char *next = bytes;
  PKCS12 *file = d2i_PKCS12(NULL, &next, (long)count);
  if (file == NULL) return FANFARE_NO_PKCS12;
  // An empty password and none are two things in this format; PKCS12_parse tries both.
  if (PKCS12_verify_mac(file, password, -1) != 1 && !(password[0] == 0 && PKCS12_verify_mac(file, NULL, 0) == 1)) {
    PKCS12_free(file);
    return FANFARE_WRONG_PASSWORD;
  }
  X509 *leaf = NULL;
  STACK_OF(X509) *others = NULL;
  int good = opened(file, password, key, &leaf, &others);
  if (!good && OSSL_PROVIDER_try_load(NULL, "legacy", 1) != NULL)
    // Keychain Access still exports with RC2, which OpenSSL 3 keeps in its legacy provider.
    good = opened(file, password, key, &leaf, &others);
  PKCS12_free(file);
  int result = !good ? FANFARE_NO_PKCS12 : *key == NULL || leaf == NULL ? FANFARE_NO_IDENTITY : FANFARE_IDENTITY;
  if (result == FANFARE_IDENTITY) {
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, leaf);
    for (int i = 0; i < sk_X509_num(others); i++) PEM_write_bio_X509(bio, sk_X509_value(others, i));
    char *text = NULL;
    long size = BIO_get_mem_data(bio, &text);
    *chain = OPENSSL_malloc((size_t)size + 1);
    memcpy(*chain, text, (size_t)size);
    *chain_count = (size_t)size;
    BIO_free(bio);
  } else {
    EVP_PKEY_free(*key);
    *key = NULL;
  }
  X509_free(leaf);
  sk_X509_pop_free(others, X509_free);
  return result;
}

uint8_t *fanfare_make_pkcs12(EVP_PKEY *key, X509 *certificate, const char *password, int legacy, size_t *count) {
  if (legacy) OSSL_PROVIDER_try_load(NULL, "legacy", 1);
  int certificates = legacy ? NID_pbe_WithSHA1And40BitRC2_CBC : 0;
  int keys = legacy ? NID_pbe_WithSHA1And3_Key_TripleDES_CBC : 0;
  PKCS12 *file = PKCS12_create(password, "identity", key, certificate, NULL, keys, certificates, 0, 0, 0);
  if (file == NULL) return NULL;
  uint8_t *der = NULL;
  int size = i2d_PKCS12(file, &der);
  PKCS12_free(file);
  *count = size > 0 ? (size_t)size : 0;
  return size > 0 ? der : NULL;
}
