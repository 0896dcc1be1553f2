#!lua flags=allow-oom
-- Takes out members of the retry set that name no waiting delivery. A delivery that ends takes its member out in the
-- same script, so a member that is gone by now belonged to one that ended after the set was read. Only what still
-- stands there is damage, and is counted.
-- KEYS lease, retry, odd
-- ARGV owner, members…
-- use owner
local removed = 0
for i = 2, #ARGV do removed = removed + redis.call('ZREM', KEYS[2], ARGV[i]) end
if removed > 0 then redis.call('INCRBY', KEYS[3], removed) end
return removed
