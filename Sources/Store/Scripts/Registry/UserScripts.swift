import RedisClient

extension Fragment {
  /// A user's entry: version (4 bytes), how many devices (2), their places (6 each), the tags.
  static let user = """
    local function read(key, user)
      local entry = redis.call('HGET', key, user)
      if not entry then return 0, '', '' end
      local version, count = struct.unpack('>I4I2', entry)
      return version, string.sub(entry, 7, 6 + count * 6), string.sub(entry, 7 + count * 6)
    end
    local function write(key, user, version, places, tags)
      if places == '' and tags == '' then return redis.call('HDEL', key, user) end
      redis.call('HSET', key, user, struct.pack('>I4I2', version, #places / 6) .. places .. tags)
    end
    -- KEYS[1] counts the changes: whoever finds the same count as before knows that none came between.
    local function changed() return redis.call('INCR', KEYS[1]) end
    local function find(places, wanted)
      for i = 1, #places, 6 do
        if string.sub(places, i, i + 5) == wanted then return i end
      end
    end

    """
}

extension Scripts {
  /// Devices become their users'. KEYS edition of users; users, one for each · ARGV limit; for each: user, the entry of a user
  /// who has this device only → for each the entry, or 1: it is that one, or nil: the user has too many; then the edition before
  /// and after
  static let join = RedisScript(
    "join",
    "#!lua flags=allow-oom\n" + Fragment.user + """
      local out, limit = {}, tonumber(ARGV[1])
      local isChanged = false
      for i = 2, #KEYS do
        local user, entry = ARGV[i * 2 - 2], ARGV[i * 2 - 1]
        -- Most users are new.
        if redis.call('HSETNX', KEYS[i], user, entry) == 1 then
          out[i - 1] = 1
          isChanged = true
        else
          local place = string.sub(entry, 7)
          local version, places, tags = read(KEYS[i], user)
          local fits = true
          if not find(places, place) then
            fits = #places / 6 < limit
            if fits then
              places = places .. place
              write(KEYS[i], user, version, places, tags)
              isChanged = true
            end
          end
          out[i - 1] = fits and struct.pack('>I4I2', version, #places / 6) .. places .. tags
        end
      end
      local edition = isChanged and changed() or tonumber(redis.call('GET', KEYS[1]) or 0)
      out[#KEYS] = isChanged and edition - 1 or edition
      out[#KEYS + 1] = edition
      return out
      """)

  /// Users whose entry has changed. KEYS users, one for each · ARGV for each: user, version and places as they were → for
  /// each 1, or 0: it is the same
  static let crossed = RedisScript(
    "crossed",
    """
    #!lua flags=no-writes
    local out = {}
    for i = 1, #KEYS do
      local known = ARGV[i * 2]
      local entry = redis.call('HGET', KEYS[i], ARGV[i * 2 - 1])
      out[i] = (not entry or string.sub(entry, 1, #known) ~= known) and 1 or 0
    end
    return out
    """)

  /// KEYS edition of users, users · ARGV user, place
  static let leave = RedisScript(
    "leave",
    "#!lua flags=allow-oom\n" + Fragment.user + """
      local version, places, tags = read(KEYS[2], ARGV[1])
      local found = find(places, ARGV[2])
      if not found then return 0 end
      changed()
      write(KEYS[2], ARGV[1], version, string.sub(places, 1, found - 1) .. string.sub(places, found + 6), tags)
      return 1
      """)

  /// Replaces a user's tags; a new version tells devices which hold the old ones. Versions follow the clock, so that a user who
  /// comes again does not begin below what records hold. KEYS edition of users, users · ARGV user, expected tags, tags → 1, or 0: not as expected
  static let tagUser = RedisScript(
    "tagUser",
    "#!lua flags=allow-oom\n" + Fragment.user + """
      local version, places, tags = read(KEYS[2], ARGV[1])
      if tags ~= ARGV[2] then return 0 end
      if tags ~= ARGV[3] then
        changed()
        write(KEYS[2], ARGV[1], math.max(version + 1, tonumber(redis.call('TIME')[1])), places, ARGV[3])
      end
      return 1
      """)
}
