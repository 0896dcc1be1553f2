#!lua flags=allow-oom
-- Changes sets as long as the intent is there and says which, and counts that.
-- KEYS intents; sets
-- ARGV intent, plan of sets, sets as `applySets` takes them
-- → 1, or 0: the intent is gone, or says nothing of sets yet
-- use sets
local progress = redis.call('HGET', KEYS[1], '#' .. ARGV[1])
if not progress or progress == '0' then return 0 end
applySets(ARGV[2], 2, 3)
redis.call('HINCRBY', KEYS[1], '#' .. ARGV[1], '1')
return 1
