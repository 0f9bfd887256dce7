group a { @b -x }
group b { @a }
