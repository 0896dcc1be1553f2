-- Counts outcomes at the moment they become final, by provider and outcome, in the hash that the last of KEYS names:
-- `tally(counter, count)` for whatever a counter of a message grows by, `settleTallies()` once when all is written. A
-- worker takes them from there (`takeTallies`): nobody else counts ends.
local tallies = {}
local function tally(counter, count)
  local name = string.match(counter, '^k([^\1]*\1[^\1]*)')
  if name then tallies[name] = (tallies[name] or 0) + tonumber(count) end
end
local function settleTallies()
  for name, count in pairs(tallies) do
    redis.call('HINCRBY', KEYS[#KEYS], name, string.format('%d', count))
  end
end
