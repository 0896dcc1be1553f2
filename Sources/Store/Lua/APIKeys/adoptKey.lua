#!lua
-- Gives a key of a layout before 13, which stands under the hash of its secret, its place among the keys of its app.
-- KEYS secrets, keys of the app
-- ARGV hash, what stands there, whose it is from now on, id, record
-- → 1, or 0 where somebody else has done it
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[4], ARGV[5])
redis.call('HINCRBY', KEYS[2], '', 1)
return 1
