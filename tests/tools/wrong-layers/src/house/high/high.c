int wrong_high(int number);
int wrong_low(int number);

int wrong_high(int number)
{
    return number ? wrong_low(number - 1) : 0;
}
