#!lua flags=allow-oom
-- A number without a record becomes free.
-- KEYS free numbers, record bucket
-- ARGV number, when it became so
-- → 1: done
-- use records
if entryOf(redis.call('GET', KEYS[2]) or '', tonumber(ARGV[1])) ~= '' then return 0 end
return redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])
