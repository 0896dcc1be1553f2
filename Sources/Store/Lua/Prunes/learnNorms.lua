#!lua flags=allow-oom
-- Adds what was seen to the norms, or to what was seen since the brake is on.
-- KEYS norms, brakes
-- ARGV verdicts after which older ones weigh half, (credential, seen, dead)…
-- → the norms, in their order
local out = {}
for i = 2, #ARGV, 3 do
  local credential, seen, dead = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local norm = redis.call('HGET', KEYS[1], credential) or '0 0'
  -- Behind them what the norm was before an operator declared another one.
  local s, d, before = string.match(norm, '^(%S+) (%S+)(.*)$')
  s, d = tonumber(s or ''), tonumber(d or '')
  -- Also of what says nan or inf.
  if not (s and d and d >= 0 and d <= s and s < 1e15) then s, d = 0, 0 end
  local entry = redis.call('HGET', KEYS[2], credential)
  if entry and seen > 0 then
    local since, hs, hd, rest = string.match(entry, '^(%S+) (%S+) (%S+) (.+)$')
    if since then
      entry = string.format('%s %.0f %.0f %s', since, (tonumber(hs) or 0) + seen, (tonumber(hd) or 0) + dead, rest)
      redis.call('HSET', KEYS[2], credential, entry)
    end
  elseif seen > 0 then
    s, d = s + seen, d + dead
    -- What was declared has faded by then: nobody goes back behind it.
    while s > tonumber(ARGV[1]) do s, d, before = s / 2, d / 2, '' end
    redis.call('HSET', KEYS[1], credential, string.format('%.0f %.3f', s, d) .. (before or ''))
  end
  out[#out + 1] = string.format('%.0f %.3f', s, d)
end
return out
