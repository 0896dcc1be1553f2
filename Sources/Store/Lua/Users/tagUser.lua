#!lua flags=allow-oom
-- Replaces a user's tags; a new version tells devices which hold the old ones. Versions follow the clock, so that a
-- user who comes again does not begin below what records hold.
-- KEYS edition of users, users
-- ARGV user, expected tags, tags
-- → 1, or 0: not as expected
-- use user
local version, places, tags = read(KEYS[2], ARGV[1])
if tags ~= ARGV[2] then return 0 end
if tags ~= ARGV[3] then
  changed()
  write(KEYS[2], ARGV[1], math.max(version + 1, tonumber(redis.call('TIME')[1])), places, ARGV[3])
end
return 1
