#!lua flags=allow-oom
-- Says that an act is about to begin:
-- KEYS acts at work
-- ARGV its mark, packed entry
-- → 1
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
