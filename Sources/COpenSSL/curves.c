#include "COpenSSL.h"
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <pthread.h>

enum { COORDINATE = 32, POINT = 2 * COORDINATE + 1, TAG = 16 };

static EC_GROUP *group;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_group(void) { group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1); }

/// The curve, which nobody changes: any thread may read it.
static const EC_GROUP *p256(void) {
  pthread_once(&once, make_group);
  return group;
}

/// Null if the bytes are no uncompressed point of the curve.
static EC_POINT *read_point(const uint8_t bytes[POINT], BN_CTX *context) {
  EC_POINT *point = EC_POINT_new(p256());
  if (bytes[0] == POINT_CONVERSION_UNCOMPRESSED && EC_POINT_oct2point(p256(), point, bytes, POINT, context) == 1)
    return point;
  EC_POINT_free(point);
  ERR_clear_error();
  return NULL;
}

int fanfare_p256_is_point(const uint8_t bytes[POINT]) {
  EC_POINT *point = read_point(bytes, NULL);
  EC_POINT_free(point);
  return point != NULL;
}

/// The number, if it is one of 1 … order - 1; to be released.
static BIGNUM *read_scalar(const uint8_t bytes[COORDINATE]) {
  BIGNUM *scalar = BN_secure_new();
  BN_bin2bn(bytes, COORDINATE, scalar);
  BN_set_flags(scalar, BN_FLG_CONSTTIME);
  if (!BN_is_zero(scalar) && BN_cmp(scalar, EC_GROUP_get0_order(p256())) < 0) return scalar;
  BN_clear_free(scalar);
  return NULL;
}

int fanfare_p256_multiply(const uint8_t scalar_bytes[COORDINATE], const uint8_t *point_bytes, uint8_t product[POINT]) {
  BN_CTX *context = BN_CTX_secure_new();
  BIGNUM *scalar = read_scalar(scalar_bytes);
  EC_POINT *point = point_bytes != NULL ? read_point(point_bytes, context) : NULL;
  EC_POINT *result = EC_POINT_new(p256());
  int good = scalar != NULL && (point_bytes == NULL || point != NULL)
             && EC_POINT_mul(p256(), result, point != NULL ? NULL : scalar, point, point != NULL ? scalar : NULL, context) == 1
             && EC_POINT_point2oct(p256(), result, POINT_CONVERSION_UNCOMPRESSED, product, POINT, context) == POINT;
  EC_POINT_clear_free(result);
  EC_POINT_free(point);
  BN_clear_free(scalar);
  BN_CTX_free(context);
  return good;
}

/// A key of the point, with the scalar if there is one.
static EVP_PKEY *make_key(const uint8_t point[POINT], const BIGNUM *scalar) {
  OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
  OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, POINT);
  if (scalar != NULL) OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_PRIV_KEY, scalar);
  OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(build);
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  EVP_PKEY *key = NULL;
  if (EVP_PKEY_fromdata_init(context) != 1
      || EVP_PKEY_fromdata(context, &key, scalar != NULL ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, parameters) != 1)
    ERR_clear_error();
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(build);
  return key;
}

EVP_PKEY *fanfare_p256_private_key(const uint8_t scalar_bytes[COORDINATE]) {
  uint8_t point[POINT];
  if (!fanfare_p256_multiply(scalar_bytes, NULL, point)) return NULL;
  BIGNUM *scalar = read_scalar(scalar_bytes);
  EVP_PKEY *key = make_key(point, scalar);
  BN_clear_free(scalar);
  return key;
}

EVP_PKEY *fanfare_p256_public_key(const uint8_t point[POINT]) {
  return fanfare_p256_is_point(point) ? make_key(point, NULL) : NULL;
}

int fanfare_p256_point(EVP_PKEY *key, uint8_t point[POINT]) {
  BIGNUM *x = NULL, *y = NULL;
  int good = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_X, &x) == 1
             && EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_Y, &y) == 1
             && BN_bn2binpad(x, point + 1, COORDINATE) == COORDINATE
             && BN_bn2binpad(y, point + 1 + COORDINATE, COORDINATE) == COORDINATE;
  point[0] = POINT_CONVERSION_UNCOMPRESSED;
  BN_free(x);
  BN_free(y);
  return good;
}

int fanfare_seal_aes128gcm(
    const uint8_t key[16], const uint8_t nonce[12], const uint8_t *plain, size_t count, uint8_t *sealed) {
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int made = 0, rest = 0;
  int good = EVP_EncryptInit_ex2(context, EVP_aes_128_gcm(), key, nonce, NULL) == 1
             && EVP_EncryptUpdate(context, sealed, &made, plain, (int)count) == 1
             && EVP_EncryptFinal_ex(context, sealed + made, &rest) == 1
             && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG, sealed + count) == 1;
  EVP_CIPHER_CTX_free(context);
  return good;
}

int fanfare_open_aes128gcm(
    const uint8_t key[16], const uint8_t nonce[12], const uint8_t *sealed, size_t count, uint8_t *plain) {
  if (count < TAG) return 0;
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int made = 0, rest = 0;
  int good = EVP_DecryptInit_ex2(context, EVP_aes_128_gcm(), key, nonce, NULL) == 1
             && EVP_DecryptUpdate(context, plain, &made, sealed, (int)(count - TAG)) == 1
             && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG, (void *)(sealed + count - TAG)) == 1
             && EVP_DecryptFinal_ex(context, plain + made, &rest) == 1;
  EVP_CIPHER_CTX_free(context);
  ERR_clear_error();
  return good;
}
