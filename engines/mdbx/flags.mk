# mdbx/api.h declares what is used of libmdbx; the library is loaded at run time.
PARTS_mdbx = lmdb-family
