#!lua flags=allow-oom
-- KEYS edition of users, users
-- ARGV user, place
-- use user
local version, places, tags = read(KEYS[2], ARGV[1])
local found = find(places, ARGV[2])
if not found then return 0 end
changed()
write(KEYS[2], ARGV[1], version, string.sub(places, 1, found - 1) .. string.sub(places, found + 6), tags)
return 1
