#include "COpenSSL.h"
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

X509 *fanfare_certificate(const void *pem, size_t count) {
  BIO *bio = BIO_new_mem_buf(pem, (int)count);
  X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
  BIO_free(bio);
  return certificate;
}

int fanfare_is_valid_in(X509 *certificate, long days) {
  time_t then = time(NULL) + days * 86400;
  return X509_cmp_time(X509_get0_notBefore(certificate), NULL) < 0
         && X509_cmp_time(X509_get0_notAfter(certificate), &then) > 0;
}

enum { HOUR = 3600, DAY = 24 * HOUR };

/// A version 3 certificate with a random serial number, valid from an hour ago (clocks differ), or an hour before an end
/// that has passed; issuer and signature open.
static X509 *blank(EVP_PKEY *key, const char *name, long seconds) {
  X509 *certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  BIGNUM *serial = BN_new();
  BN_rand(serial, 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY);
  BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate));
  BN_free(serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), seconds > 0 ? -HOUR : seconds - HOUR);
  X509_gmtime_adj(X509_getm_notAfter(certificate), seconds);
  X509_NAME *subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1, 0);
  X509_set_pubkey(certificate, key);
  return certificate;
}

static int extend(X509 *certificate, X509 *issuer, int kind, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
  if (extension == NULL) return 0;
  int good = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return good;
}

X509 *fanfare_make_authority(EVP_PKEY *key, const char *name, long days) {
  X509 *certificate = blank(key, name, days * DAY);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  if (extend(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE")
      && extend(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign")
      && extend(certificate, certificate, NID_subject_key_identifier, "hash")
      && X509_sign(certificate, key, EVP_sha256()) > 0)
    return certificate;
  X509_free(certificate);
  return NULL;
}

/// Names as objects and not as configuration text, so that no character in one means anything.
static int add_hosts(X509 *certificate, const char *const *hosts, size_t count) {
  GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
  for (size_t i = 0; i < count; i++) {
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(hosts[i]);
    if (address != NULL) {
      GENERAL_NAME_set0_value(name, GEN_IPADD, address);
    } else {
      ASN1_IA5STRING *text = ASN1_IA5STRING_new();
      ASN1_STRING_set(text, hosts[i], -1);
      GENERAL_NAME_set0_value(name, GEN_DNS, text);
    }
    sk_GENERAL_NAME_push(names, name);
  }
  int good = X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0);
  GENERAL_NAMES_free(names);
  return good;
}

X509 *fanfare_make_leaf(
    EVP_PKEY *key, X509 *authority, EVP_PKEY *authority_key, const char *const *hosts, size_t host_count, long days) {
  X509 *certificate = blank(key, hosts[0], days * DAY);
  X509_set_issuer_name(certificate, X509_get_subject_name(authority));
  if (extend(certificate, authority, NID_basic_constraints, "critical,CA:FALSE")
      && extend(certificate, authority, NID_key_usage, "critical,digitalSignature")
      && extend(certificate, authority, NID_ext_key_usage, "serverAuth")
      && extend(certificate, authority, NID_subject_key_identifier, "hash")
      && extend(certificate, authority, NID_authority_key_identifier, "keyid")
      && add_hosts(certificate, hosts, host_count) && X509_sign(certificate, authority_key, EVP_sha256()) > 0)
    return certificate;
  X509_free(certificate);
  return NULL;
}

// MARK: Client certificates

X509 *fanfare_begin_client(EVP_PKEY *key, X509 *authority, const char *name, const char *uid, long seconds) {
  X509 *certificate = blank(key, name, seconds);
  X509_set_issuer_name(certificate, X509_get_subject_name(authority));
  if (uid != NULL)
    X509_NAME_add_entry_by_NID(
        X509_get_subject_name(certificate), NID_userId, MBSTRING_UTF8, (const unsigned char *)uid, -1, -1, 0);
  if (extend(certificate, authority, NID_basic_constraints, "critical,CA:FALSE")
      && extend(certificate, authority, NID_key_usage, "critical,digitalSignature")
      && extend(certificate, authority, NID_ext_key_usage, "clientAuth")
      && extend(certificate, authority, NID_authority_key_identifier, "keyid"))
    return certificate;
  X509_free(certificate);
  return NULL;
}

int fanfare_add_extension(X509 *certificate, const char *oid, const void *value, size_t count) {
  ASN1_OBJECT *object = OBJ_txt2obj(oid, 1);
  ASN1_OCTET_STRING *content = ASN1_OCTET_STRING_new();
  int good = object != NULL && ASN1_OCTET_STRING_set(content, value, (int)count) == 1;
  X509_EXTENSION *extension = good ? X509_EXTENSION_create_by_OBJ(NULL, object, 0, content) : NULL;
  good = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  ASN1_OCTET_STRING_free(content);
  ASN1_OBJECT_free(object);
  return good;
}

int fanfare_sign_certificate(X509 *certificate, EVP_PKEY *authority_key) {
  return X509_sign(certificate, authority_key, EVP_sha256()) > 0;
}

// MARK: What a certificate says

static int64_t seconds_of(const ASN1_TIME *time) {
  struct tm parts;
  return ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) : 0;
}

int64_t fanfare_not_before(X509 *certificate) { return seconds_of(X509_get0_notBefore(certificate)); }
int64_t fanfare_not_after(X509 *certificate) { return seconds_of(X509_get0_notAfter(certificate)); }

static uint8_t *copy(const void *bytes, size_t size, size_t *count) {
  uint8_t *taken = OPENSSL_malloc(size + 1);
  if (taken != NULL) memcpy(taken, bytes, size);
  *count = size;
  return taken;
}

uint8_t *fanfare_subject(X509 *certificate, int kind, size_t *count) {
  X509_NAME *name = X509_get_subject_name(certificate);
  int place = X509_NAME_get_index_by_NID(name, kind, -1);
  if (place < 0) return NULL;
  unsigned char *text = NULL;
  int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, place)));
  if (size < 0) return NULL;
  uint8_t *taken = copy(text, (size_t)size, count);
  OPENSSL_free(text);
  return taken;
}

uint8_t *fanfare_extension(X509 *certificate, const char *oid, size_t *count) {
  ASN1_OBJECT *object = OBJ_txt2obj(oid, 1);
  int place = object == NULL ? -1 : X509_get_ext_by_OBJ(certificate, object, -1);
  ASN1_OBJECT_free(object);
  if (place < 0) return NULL;
  const ASN1_OCTET_STRING *content = X509_EXTENSION_get_data(X509_get_ext(certificate, place));
  return copy(ASN1_STRING_get0_data(content), (size_t)ASN1_STRING_length(content), count);
}
