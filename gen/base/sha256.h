/* sha256.h: the hash with which a manifest stands for the text of files. */
#ifndef QKGEN_SHA256_H
#define QKGEN_SHA256_H

#include <stddef.h>

/* Digits of a hash, and of its begin that stands in files of ours: 64 bits tell any two texts of a tree apart, and
 * say of one whether it has changed. */
enum { QG_SHA256_HEX = 64, QG_SHA256_SHORT = 16 };

/* Writes the SHA-256 (FIPS 180-4) of `length` bytes as 64 lower-case hexadecimal digits and a NUL. */
void qg_sha256(const void *data, size_t length, char hex[QG_SHA256_HEX + 1]);

#endif
