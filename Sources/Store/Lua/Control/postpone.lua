#!lua flags=allow-oom
-- The first members of a part have a later time than the part.
-- KEYS lease, work, starts
-- ARGV owner, raw id, due
-- use owner
-- Who cancels does not wait; who is paused waits for something else.
local control = redis.call('HGET', KEYS[2], 'c')
if control and string.sub(control, 1, 1) ~= 'r' then return 0 end
redis.call('ZADD', KEYS[3], 'XX', ARGV[3], ARGV[2])
return 1
