#!lua flags=allow-oom
-- Retries of these messages are about to be put out of turn.
-- KEYS lease, parked
-- ARGV owner, raw ids…
-- use owner
for i = 2, #ARGV do redis.call('HINCRBY', KEYS[2], ARGV[i], 1) end
return 1
